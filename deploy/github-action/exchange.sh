#!/usr/bin/env bash
# Exchanges the OpenID Connect token of the job for an access token of a robot account, and hands it to the steps that follow.
# Tokens are passed on standard input: other processes of the machine can read arguments.
set -euo pipefail

fail() {
  echo "::error title=Atrium::$1"
  exit 1
}

url="${ATRIUM_INPUT_URL%/}"
audience="${ATRIUM_INPUT_AUDIENCE:-$url}"
if [ -z "${ACTIONS_ID_TOKEN_REQUEST_URL:-}" ]; then
  fail 'GitHub gives this job no token. Add "permissions: id-token: write" to the job.'
fi
encoded="$(jq -rn --arg text "$audience" '$text | @uri')"
answer="$(printf 'header = "Authorization: bearer %s"\n' "$ACTIONS_ID_TOKEN_REQUEST_TOKEN" |
  curl --silent --show-error --fail --max-time 30 --config - "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=$encoded")" ||
  fail 'GitHub did not issue a token for this job.'
outside="$(jq -r '.value // empty' <<<"$answer")"
echo "::add-mask::$outside"

field() { printf '&%s=%s' "$1" "$(jq -Rrs '@uri' <<<"$2" | sed 's/%0A$//')"; }
form="grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
form+="&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt"
form+="$(field client_id "$ATRIUM_INPUT_ROBOT")$(field subject_token "$outside")"
if [ -n "${ATRIUM_INPUT_SCOPE:-}" ]; then form+="$(field scope "$ATRIUM_INPUT_SCOPE")"; fi
answer="$(printf '%s' "$form" | curl --silent --show-error --max-time 30 --data @- "$url/oauth/token")" ||
  fail "$url cannot be reached."
token="$(jq -r '.access_token // empty' <<<"$answer" 2>/dev/null || true)"
if [ -z "$token" ]; then
  why="$(jq -r '.error_description // .error // empty' <<<"$answer" 2>/dev/null || true)"
  fail "$url did not accept the token of this job for $ATRIUM_INPUT_ROBOT: ${why:-it did not answer with JSON}."
fi
echo "::add-mask::$token"
{
  echo "token=$token"
  echo "expires-in=$(jq -r '.expires_in' <<<"$answer")"
} >>"$GITHUB_OUTPUT"
{
  echo "ATRIUM_URL=$url"
  echo "ATRIUM_TOKEN=$token"
  echo "ATRIUM_ORG=${ATRIUM_INPUT_ROBOT%%/*}"
} >>"$GITHUB_ENV"
