#!/bin/sh
# A gate for a build: gradients that SymPy does not confirm, or that are not finite,
# stop it. Programs are read from standard input, one on each line, with their values;
# neither a program nor a value holds a blank.
#
#   printf 'sin(x) x=0.5\nx**3 x=2\n' | sh gate.sh
#
# Exit status: 0 if every gradient holds, 1 if one does not, and that of gradcli (2 the
# command line, 3 the program or a value, 4 a limit) as soon as it fails.
set -u
gradcli=${GRADCLI:-gradcli}
failed=0

while read -r program values; do
    report=$($gradcli grad --json "$program" $values </dev/null)
    status=$?
    [ "$status" -le 1 ] || exit "$status"
    if [ "$status" -eq 1 ] || printf '%s' "$report" | grep -Eq '"(nan|-?inf)"'; then
        echo "refused: $program"
        failed=1
    else
        echo "holds:   $program"
    fi
done
exit "$failed"
