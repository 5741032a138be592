//go:build !unix

package load

import "net"

func closedByPeer(conn net.Conn) bool { return peek(conn) }
