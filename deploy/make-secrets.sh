#!/bin/sh
# Makes the secrets of deploy/compose.yaml in deploy/secrets, once: what is there already stays as it is.
set -eu
folder="$(dirname "$0")/secrets"
# Nobody else may enter the folder. The files themselves may be read, because compose hands them to users of containers as they are.
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
