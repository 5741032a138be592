package engine

// BoardID is the digest that stands for the UUID of a GPU in all records.
func BoardID(uuid string) string { return boardID(uuid) }
