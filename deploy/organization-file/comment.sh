#!/usr/bin/env bash
# Prints the plan of a file as Markdown, and exits as `atrium plan` does: 0 nothing to do, 2 changes, 1 rejected.
# Usage: comment.sh FILE
set -uo pipefail

file=${1:?usage: comment.sh FILE}
plan=$(NO_COLOR=1 atrium plan "$file" 2>&1)
status=$?
case $status in
  0) title='The organization is as in the file.' ;;
  2) title='This changes the organization:' ;;
  *) title='This cannot be applied:' ;;
esac
# Names are text of other people. Inside an indented block, Markdown gives them no meaning.
printf '%s\n\n%s\n\n' '<!-- atrium plan -->' "**$title**"
printf '%s\n' "$plan" | head -c 60000 | sed 's/^/    /'
exit "$status"
