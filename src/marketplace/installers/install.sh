#!/usr/bin/env bash
# Installs the platform into the current Kubernetes cluster. The same file for everybody: what differs from one customer
# to the next stands in env.sh and values.yaml and is never run.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

usage() {
  cat <<'TEXT'
usage: ./install.sh verify    checks that no file of this archive was changed
       ./install.sh           checks, then installs

SIGNING_KEY=FILE  also checks the signature, with the public key of the platform (see README.md)
CHART=REFERENCE   the chart to install, as `helm` names it
NAMESPACE=NAME    where to install; default atrium
TEXT
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

need() {
  command -v "$1" >/dev/null 2>&1 || fail "$1 is needed and was not found"
}

verify() {
  need sha256sum
  sha256sum --check --strict --quiet SHA256SUMS || fail 'a file of this archive was changed: download it again'
  if [[ -n "${SIGNING_KEY:-}" ]]; then
    need openssl
    openssl pkeyutl -verify -pubin -inkey "$SIGNING_KEY" -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig >/dev/null ||
      fail 'SHA256SUMS is not signed with this key'
  fi
  printf 'all files are as they were made\n'
}

install() {
  need kubectl
  need helm
  # shellcheck source=/dev/null
  . ./env.sh
  [[ -n "${CHART:-}" ]] || fail 'CHART is not set: name the chart to install'
  local cluster
  cluster="$(kubectl get namespace kube-system --output 'jsonpath={.metadata.uid}')"
  if [[ -n "$ATRIUM_CLUSTER_ID" && "$cluster" != "$ATRIUM_CLUSTER_ID" ]]; then
    printf 'install.sh: this cluster is %s, the installer was bound to %s\n' "$cluster" "$ATRIUM_CLUSTER_ID" >&2
  fi
  helm upgrade --install atrium "$CHART" --namespace "${NAMESPACE:-atrium}" --create-namespace --atomic \
    --values values.yaml --set-file license=license
}

case "${1:-install}" in
  verify) verify ;;
  install)
    verify
    install
    ;;
  *)
    usage
    exit 2
    ;;
esac
