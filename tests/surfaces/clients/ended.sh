# Runs a command, and writes its exit code into a file when it has ended: ended.sh FILE COMMAND…
# Clients do not tell how a server has ended. Some send it a signal, which is passed on.
file="$1"
shift
exec 3<&0
"$@" <&3 3<&- &
server=$!
trap 'kill $server' TERM
while kill -0 $server 2>/dev/null; do
    wait $server
    code=$?
done
echo $code > "$file.new"
mv "$file.new" "$file"
