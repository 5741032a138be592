package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	azureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens"
	// azureTime demands the seven fraction digits of the published files.
	azureTime = "2006-01-02 15:04:05.0000000"
)

// azureRow reads a line of the Azure LLM inference trace of 2023
// (https://github.com/Azure/AzurePublicDataset). Its times are local, without
// a zone: only their differences mean anything.
func azureRow(line []byte) (Row, error) {
	fields := strings.Split(string(line), ",")
	if len(fields) != 3 {
		return Row{}, fmt.Errorf("want %s, got %.80q", azureHeader, line)
	}
	at, err := time.Parse(azureTime, fields[0])
	if err != nil || at.Year() < 1970 || at.Year() > 2200 {
		return Row{}, fmt.Errorf("TIMESTAMP: want a time such as 2023-11-16 18:15:46.6805900, got %.40q", fields[0])
	}
	row := Row{At: time.Duration(at.UnixNano())}
	if row.Input, err = azureTokens("ContextTokens", fields[1]); err != nil {
		return Row{}, err
	}
	row.Output, err = azureTokens("GeneratedTokens", fields[2])
	return row, err
}

func azureTokens(what, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s: want a whole number, got %.40q", what, text)
	}
	return int(n), checkTokens(what, int64(n))
}
