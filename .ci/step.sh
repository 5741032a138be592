# Sourced by the scripts that take minutes: step NAME says what the step before took
# and begins one; step alone ends the last. CPU seconds are those of the commands
# that have ended; how busy the machine was tells a slow step from a slow machine.
step_name=

step() {
	local cpu idle total
	read -r cpu total idle < <(awk 'NR == 1 {cpu = ($16 + $17) / 100}
		/^cpu / {for (i = 2; i <= 9; i++) total += $i; print int(cpu), total, $5 + $6}' "/proc/$$/stat" /proc/stat)
	if [ -n "$step_name" ]; then
		echo "-- $step_name: $((SECONDS - step_since)) s, $((cpu - step_cpu)) s of CPU, machine" \
			"$((100 - 100 * (idle - step_idle) / (total - step_total + 1))) % busy"
	fi
	step_name=$* step_since=$SECONDS step_cpu=$cpu step_idle=$idle step_total=$total
	[ $# = 0 ] || echo "== $*"
}
