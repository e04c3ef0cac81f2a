# a signal sent to warpsafe reaches the program, whose report is still shown
cat >waits <<'X'
#!/bin/bash
trap 'echo program got it; exit 5' TERM
touch ready
while :; do sleep 0.05; done
X
chmod +x waits
"$(sed -n 's/exec "\([^"]*\)".*/\1/p' "$(command -v warpsafe)")" race ./waits &
while [[ ! -e ready ]]; do sleep 0.05; done
kill -TERM $!
wait $!
