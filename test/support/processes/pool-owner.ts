/**
 * Runs a parser pool with one child in an endless loop and one idle child, for a test that kills this
 * process. Its arguments are a folder, and optionally `none`, which leaves out every layer of the sandbox
 * that the kernel provides.
 */

import { createParserPool } from "../../../src/parsers/process/child-process.ts";
import { prepareSandbox } from "../../../src/parsers/process/sandbox/sandbox.ts";

const [folder = "", layers] = process.argv.slice(2);
const entry = new URL("./misbehaving-child.ts", import.meta.url);
const sandbox = prepareSandbox({ entry, folder, layers: layers === "none" ? [] : undefined });
const pool = createParserPool({ size: 2, entry, folder, sandbox });
void pool.parse({ fileType: "TEXT", bytes: Buffer.from("spin:marker") });
