#!/usr/bin/with-contenv bashio
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Starts uwbd with the session of the options, uwbsite with the map of a site, and uwb-mqtt with the
# broker of the Supervisor. The app ends with the first of them.
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
source=chips:/run/uwb/control
page=(--web 0.0.0.0:8099 --web-proxy 172.30.32.2 --page)
if [ -e /config/site.json ]; then
  source=site:/run/uwb/site
  uwbsite run /config/site.json uwbd:/run/uwb/control --listen /run/uwb/site "${page[@]}" &
  # uwb-mqtt repeats a connection that fails.
else
  bashio::log.info "Without /config/site.json, there are distances only, and no map."
fi
uwb-mqtt -v "${arguments[@]}" "$source" &
wait -n
