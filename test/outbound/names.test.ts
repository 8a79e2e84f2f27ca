/** Names are resolved beside those whose servers do not answer. */
import { createSocket, type Socket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addressesByDns } from "../../src/outbound/names.ts";

const A = 1;
let server: Socket;
let servers: string[];

beforeAll(async () => {
  server = createSocket("udp4");
  server.on("message", (query, from) => {
    const name = query.subarray(13, 13 + query[12]!).toString();
    if (name === "hangs") return;
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
    server.send(answerTo(query, name === "missing" || type !== A ? [] : [93, 184, 215, 14]), from.port);
  });
  await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
  servers = [`127.0.0.1:${server.address().port}`];
});
afterAll(() => server.close());

/** The header and the question of the query, and an answer with the address if there is one. */
function answerTo(query: Buffer, address: readonly number[]): Buffer {
  const question = Buffer.from(query.subarray(0, query.indexOf(0, 12) + 5));
  question.writeUInt16BE(0x8180, 2);
  question.writeUInt16BE(address.length > 0 ? 1 : 0, 6);
  question.writeUInt32BE(0, 8);
  if (address.length === 0) return question;
  return Buffer.concat([question, Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 9, 0, 4, ...address])]);
}

test("a name is found, and one without addresses is an error", async () => {
  expect(await addressesByDns("found.example", servers)).toEqual([{ address: "93.184.215.14", family: 4 }]);
  await expect(addressesByDns("missing.example", servers)).rejects.toMatchObject({ code: "ENODATA" });
});

test("names whose server does not answer delay no other name, nor the process's own", async () => {
  const hanging = Array.from({ length: 20 }, () => addressesByDns("hangs.example", servers));
  const first = await Promise.race([
    Promise.allSettled(hanging).then(() => "those that hang"),
    Promise.all([addressesByDns("found.example", servers), lookup("localhost")]).then(() => "the others"),
  ]);
  expect(first).toBe("the others");
});
