#!/usr/bin/env node
"use strict";
/** What `holdfast` begins with: readable by every Node. One that is too old hands over to the Node that `npm ci` brings. */
const { spawnSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const path = require("node:path");

const MIN_NODE = 24;
const BROUGHT = path.join(__dirname, "../../node_modules/.bin/node");

if (Number.parseInt(process.versions.node, 10) >= MIN_NODE) {
  void import("./main.ts");
} else if (existsSync(BROUGHT)) {
  const { status } = spawnSync(BROUGHT, [path.join(__dirname, "main.ts"), ...process.argv.slice(2)], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} else {
  process.stderr.write(`holdfast needs Node ${MIN_NODE} or newer, and this is ${process.versions.node}: npm ci brings one.\n`);
  process.exitCode = 1;
}
