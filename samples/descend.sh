#!/bin/sh
# Gradient descent in the shell: what -q prints goes straight into the next step.
#
#   sh descend.sh             # prints the way down to the minimum at (3, -1)
#
# Exit status: 0 if the minimum was reached, 1 if 200 steps were not enough, and that
# of gradcli if it fails.
set -eu
gradcli=${GRADCLI:-gradcli}
loss='(u - 3)**2 + 2*(v + 1)**2'
u=0 v=0 step=0

while [ "$step" -lt 200 ]; do
    gradients=$($gradcli grad -q --no-verify "$loss" "u=$u" "v=$v") || exit
    set -- $gradients
    moved=$(awk -v u="$u" -v v="$v" -v gu="$1" -v gv="$2" 'BEGIN {
        printf "%.17g %.17g %d", u - 0.2*gu, v - 0.2*gv, gu*gu + gv*gv < 1e-6
    }')
    set -- $moved
    u=$1 v=$2 step=$((step + 1))
    printf '%d u=%.4f v=%.4f\n' "$step" "$u" "$v"
    [ "$3" -eq 0 ] || exit 0
done
exit 1
