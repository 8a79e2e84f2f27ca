#!/usr/bin/env node
"use strict";
/** What `holdfast` begins with: readable by every Node. One that is too old hands over to the Node that `npm ci` brings. */
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const path = require("node:path");

const MIN_NODE = 24;
const BROUGHT = path.join(__dirname, "../../node_modules/.bin/node");
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

if (Number.parseInt(process.versions.node, 10) >= MIN_NODE) {
  void import("./main.ts");
} else if (existsSync(BROUGHT)) {
  handOver();
} else {
  process.stderr.write(
    `holdfast needs Node ${MIN_NODE} or newer, and this is ${process.versions.node}: npm ci brings one.\n`,
  );
  process.exitCode = 1;
}

/** Passes signals on and ends as the other does: who is told to end must not leave it behind. */
function handOver() {
  const child = spawn(BROUGHT, [path.join(__dirname, "main.ts"), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    for (const one of SIGNALS) process.removeAllListeners(one);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}
