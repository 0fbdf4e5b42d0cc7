#!/usr/bin/with-contenv bashio
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Starts uwbd with the session of the options, and uwb-mqtt with the broker of the Supervisor. The
# app ends with the first of both.
set -euo pipefail
umask 077
mkdir -p /run/uwb/sessions
bashio::config profile >/run/uwb/sessions/app.json
bashio::services mqtt password >/run/uwb/password
arguments=(--user "$(bashio::services mqtt username)" --password-file /run/uwb/password)
scheme=mqtt
if bashio::var.true "$(bashio::services mqtt ssl)"; then scheme=mqtts; fi
arguments+=(--broker "$scheme://$(bashio::services mqtt host):$(bashio::services mqtt port)")
arguments+=(--dead-band "$(bashio::config dead_band)")
while read -r name; do
  [ -z "$name" ] || arguments+=(--name "$name")
done < <(bashio::config names)
uwbd --socket /run/uwb/control --sessions /run/uwb/sessions &
uwb-mqtt -v "${arguments[@]}" chips:/run/uwb/control &
wait -n
