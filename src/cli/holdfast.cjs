#!/usr/bin/env node
"use strict";
/** What `holdfast` begins with: readable by every Node, so that one that cannot read TypeScript is told of in a line. */
const MIN_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < MIN_NODE) {
  process.stderr.write(`holdfast needs Node ${MIN_NODE} or newer, and this is ${process.versions.node}: npm run holdfast -- … takes the one that npm ci brings.\n`);
  process.exitCode = 1;
} else {
  void import("./main.ts");
}
