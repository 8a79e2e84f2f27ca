/** A process that owns a parser pool with one child in an endless loop and one idle, for a test that kills it. Its argument: a folder. */

import { createParserPool } from "../../src/parsers/child-process.ts";

const [folder = ""] = process.argv.slice(2);
const pool = createParserPool({ size: 2, entry: new URL("./misbehaving-child.ts", import.meta.url), folder });
void pool.parse({ fileType: "TEXT", bytes: Buffer.from("spin:marker") });
