# Sourced: worst A B prints the worse of two exit codes of opbench. A FAIL stays
# one whatever else went wrong; INCONCLUSIVE is only better than 0.
worst() {
	local code
	for code in 10 12 13 14 2 1 11; do
		if [ "$1" = "$code" ] || [ "$2" = "$code" ]; then
			echo "$code"
			return
		fi
	done
	[ "$1" = 0 ] && echo "$2" || echo "$1"
}
