import { defaultPayloadConverter } from "@temporalio/common";
import { expect, test } from "vitest";
import { carriedTraceparent } from "../../../src/domain/tracing/header.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const json = (text: string) => ({ data: Buffer.from(text) });

test("a header gives the traceparent that a client wrote into it", () => {
  expect(carriedTraceparent(defaultPayloadConverter.toPayload(TRACEPARENT))).toBe(TRACEPARENT);
});

test.each([
  ["no header", undefined],
  ["no data", {}],
  ["no JSON", json("{")],
  ["no text", json("[1]")],
  ["another text", json('"00-0-0-01"')],
  ["a text that goes on", json(`"${TRACEPARENT}-and-more"`)],
  ["one in a long text", json(`"${TRACEPARENT}"${" ".repeat(1_000_000)}`)],
  [
    "what its encoding does not say",
    { metadata: { encoding: Buffer.from("binary/unknown") }, data: Buffer.from([0xff]) },
  ],
])("a header with %s carries nothing, and fails nothing", (_, header) => {
  expect(carriedTraceparent(header)).toBeUndefined();
});
