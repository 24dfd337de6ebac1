#!/bin/sh
# Lists the periodic jobs of a Debian system, one a line:
#
#   source <TAB> name <TAB> kind <TAB> schedule
#
# source is the file (and the package, when it isn't installed here), name is
# unique, kind says how to read the schedule:
#
#   cron      five fields, or @daily and the like
#   reboot    @reboot
#   calendar  OnCalendar= of a systemd timer
#   every     OnBootSec= and OnUnitActiveSec=, "-" for the first when there is none
#   after     OnActiveSec= or OnBootSec= alone: once
#
# What this machine has comes first. A machine in a container has little, so
# the packages below, as a small mail, web and file server would have them, are
# downloaded by apt and unpacked into a folder that is removed at the end.
# Nothing of them is installed or run. With -l only this machine is read.
#
#   sh collect.sh [-l] >jobs.tsv
set -eu

packages="cron-daemon-common sysstat certbot mdadm php-common popularity-contest ntpsec awstats munin-node
munin spamassassin exim4-base apt-show-versions debsums rkhunter chkrootkit logcheck cacti anacron etckeeper
amavisd-new mailman3 mailman3-web plocate dma btrfsmaintenance cron-apt leafnode sanoid tiger roundcube-core
aide-common checksecurity"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tab=$(printf '\t')

unpack() {
	mkdir "$tmp/deb" "$tmp/root"
	# apt gives up its rights to download, so that user must reach the folder.
	chmod 755 "$tmp"
	chmod 777 "$tmp/deb"
	# shellcheck disable=SC2086 # a list of names
	(cd "$tmp/deb" && apt-get download -q $packages >&2)
	for deb in "$tmp"/deb/*.deb; do
		name=$(basename "$deb")
		name=${name%%_*}
		mkdir "$tmp/root/$name"
		dpkg-deb -x "$deb" "$tmp/root/$name"
	done
}

# roots prints every tree to be read: folder, tab, package.
roots() {
	printf '\t\n'
	[ -d "$tmp/root" ] || return 0
	for root in "$tmp"/root/*; do
		printf '%s\t%s\n' "$root" "${root##*/}"
	done
}

# each runs "$2 file source" for the files that the pattern $1 names in all
# trees; a file that an earlier tree has is left out.
each() {
	roots | while IFS="$tab" read -r root package; do
		for file in $root$1; do
			[ -f "$file" ] || continue
			path=${file#"$root"}
			grep -qxF "$path" "$tmp/seen" && continue
			echo "$path" >>"$tmp/seen"
			"$2" "$file" "$path${package:+ ($package)}"
		done
	done
}

# table reads a crontab with user names; its jobs are numbered.
table() {
	case ${1##*/} in *[!A-Za-z0-9_-]*) return 0 ;; esac
	awk -v source="$2" -v name="$(basename "$1")" '
		/^[ \t]*(#|$)/ || /^[ \t]*[A-Za-z_]+[ \t]*=/ { next }
		{ n++ }
		$1 == "@reboot" { print source "\t" name "." n "\treboot\t" $1; next }
		/^[ \t]*@/ { print source "\t" name "." n "\tcron\t" $1; next }
		{ print source "\t" name "." n "\tcron\t" $1, $2, $3, $4, $5 }' "$1"
}

# script is a job of run-parts: when, /etc/crontab says.
script() {
	case ${1##*/} in *[!A-Za-z0-9_-]*) return 0 ;; esac
	parts=$(basename "$(dirname "$1")")
	schedule=$(awk -F '\t' -v parts="$parts" '$1 == parts { print $2; exit }' "$tmp/parts")
	printf '%s\t%s.%s\tcron\t%s\n' "$2" "${parts#cron.}" "${1##*/}" "$schedule"
}

# run_parts notes when /etc/crontab runs the folders of scripts.
run_parts() {
	sed -n 's|^\([^#].*\)[[:space:]]root[[:space:]].*run-parts .*/etc/\(cron\.[a-z]*\).*|\2\t\1|p' "$1" |
		tr -s ' \t' ' ' | sed "s/ /$tab/" >>"$tmp/parts"
}

timer() {
	kind=timer
	case $2 in */systemd/user/*) kind=user-timer ;; esac
	awk -F = -v source="$2" -v name="$kind.$(basename "$1" .timer)" '
		function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
		{ value = trim(substr($0, index($0, "=") + 1)) }
		$1 == "OnCalendar" && value != "" { at[++n] = value }
		$1 == "OnBootSec" || $1 == "OnStartupSec" { boot = value }
		$1 == "OnActiveSec" { active = value }
		$1 == "OnUnitActiveSec" || $1 == "OnUnitInactiveSec" { every = value }
		END {
			for (i = 1; i <= n; i++) print source "\t" name (n > 1 ? "." i : "") "\tcalendar\t" at[i]
			if (every != "") print source "\t" name "\tevery\t" (boot active == "" ? "-" : boot active), every
			else if (boot active != "" && n == 0) print source "\t" name "\tafter\t" boot active
		}' "$1"
}

[ "${1:-}" = -l ] || unpack
: >"$tmp/seen"
: >"$tmp/parts"
each /etc/crontab run_parts
: >"$tmp/seen"
each /etc/crontab table
each '/etc/cron.d/*' table
for parts in hourly daily weekly monthly; do
	each "/etc/cron.$parts/*" script
done
each '/etc/systemd/system/*.timer' timer
each '/lib/systemd/system/*.timer' timer
[ -L /lib ] || each '/usr/lib/systemd/system/*.timer' timer
each '/usr/lib/systemd/user/*.timer' timer
