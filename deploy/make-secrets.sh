#!/bin/sh
# Writes the secrets of deploy/compose.yaml to deploy/secrets. Existing files stay unchanged.
set -eu
folder="$(dirname "$0")/secrets"
# Only the owner can enter the folder. The files are world-readable, because compose mounts them with their mode for other users.
mkdir -p "$folder"
chmod 700 "$folder"

make() {
  [ -s "$folder/$1" ] || printf '%s' "$2" > "$folder/$1"
  chmod 644 "$folder/$1"
}

random() {
  od -An -vtx1 -N32 /dev/urandom | tr -d ' \n'
}

make postgres_password "$(random)"
make secret_key "$(random)"
make s3_secret_access_key "$(random)"
make grafana_password "$(random)"
make database_url "postgres://sluice:$(cat "$folder/postgres_password")@postgres:5432/sluice"
echo "The secrets are in $folder. Back them up with the data."
