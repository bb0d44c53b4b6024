#!/bin/sh
# Adds Glossbench to the menu of the desktop for this user: entry, icons, file type. `glossbench` must be on the PATH.
# Sizes other than the drawn one come from the SVG. Undo: the same with --remove.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
icons=$here/../../resources/icons
data=${XDG_DATA_HOME:-$HOME/.local/share}
if [ "${1:-}" = --remove ]; then
  rm -f "$data/applications/glossbench.desktop" "$data/mime/packages/glossbench.xml" \
    "$data/icons/hicolor/scalable/apps/glossbench.svg" "$data/icons/hicolor/16x16/apps/glossbench.svg" "$data/icons/hicolor/24x24/apps/glossbench.svg"
else
  mkdir -p "$data/applications" "$data/mime/packages" "$data/icons/hicolor/scalable/apps" "$data/icons/hicolor/16x16/apps" "$data/icons/hicolor/24x24/apps"
  cp "$here/glossbench.desktop" "$data/applications/"
  cp "$here/glossbench.xml" "$data/mime/packages/"
  cp "$icons/glossbench.svg" "$data/icons/hicolor/scalable/apps/"
  cp "$icons/glossbench-small.svg" "$data/icons/hicolor/16x16/apps/glossbench.svg"
  cp "$icons/glossbench-small.svg" "$data/icons/hicolor/24x24/apps/glossbench.svg"
fi
for tool in "update-desktop-database $data/applications" "update-mime-database $data/mime"; do
  if command -v "${tool%% *}" > /dev/null; then $tool; fi
done
