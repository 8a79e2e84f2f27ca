/** Tests the client's check of signatures against what the official library signs. */
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { WebhookRefused, verifyWebhook } from "../../clients/typescript/src/index.ts";

const SECRET = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const ID = "01900000-0000-7000-8000-000000000001";
const BODY = JSON.stringify({ id: ID, type: "document.completed", data: { note: "ü" } });

const signedBy = (...secrets: string[]): Record<string, string> => {
  const now = new Date();
  return {
    "webhook-id": ID,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(ID, now, BODY)).join(" "),
  };
};
const verify = (headers: Record<string, string>, body = BODY, options = {}) =>
  verifyWebhook(SECRET, headers, body, options);

test("gives the event of a message that the official library signed", async () => {
  const event = { id: ID, type: "document.completed" };
  expect(await verify(signedBy(SECRET))).toMatchObject(event);
  expect(await verifyWebhook(SECRET, new Headers(signedBy(SECRET)), Buffer.from(BODY))).toMatchObject(event);
});

test("takes a message that has the signatures of two secrets, in either order", async () => {
  expect(await verify(signedBy(OTHER, SECRET))).toMatchObject({ id: ID });
  expect(await verify(signedBy(SECRET, OTHER))).toMatchObject({ id: ID });
});

test.each([
  ["another secret", signedBy(OTHER), BODY],
  ["another body", signedBy(SECRET), BODY.replace("completed", "deleted")],
  ["another id", { ...signedBy(SECRET), "webhook-id": "2" }, BODY],
  [
    "another time",
    { ...signedBy(SECRET), "webhook-timestamp": String(Math.floor(Date.now() / 1_000) - 9) },
    BODY,
  ],
  [
    "a signature of another kind",
    {
      ...signedBy(SECRET),
      "webhook-signature": signedBy(SECRET)["webhook-signature"]!.replace("v1,", "v1a,"),
    },
    BODY,
  ],
  ["a signature that is no base64", { ...signedBy(SECRET), "webhook-signature": "v1,§" }, BODY],
  ["a time that is none", { ...signedBy(SECRET), "webhook-timestamp": "now" }, BODY],
  ["no signature", { ...signedBy(SECRET), "webhook-signature": "" }, BODY],
])("refuses %s", async (_what, headers, body) => {
  await expect(verify(headers, body)).rejects.toBeInstanceOf(WebhookRefused);
});

test("refuses a message that is more than five minutes old, or as far ahead", async () => {
  const headers = signedBy(SECRET);
  const minutes = (count: number) => Date.now() + count * 60_000;
  await verify(headers, BODY, { now: minutes(4) });
  await expect(verify(headers, BODY, { now: minutes(6) })).rejects.toThrow("too far from now");
  await expect(verify(headers, BODY, { now: minutes(-6) })).rejects.toThrow("too far from now");
  await verify(headers, BODY, { now: minutes(6), toleranceSeconds: 600 });
});

test("a secret that cannot be one is a fault of the caller and not of the sender", async () => {
  await expect(verifyWebhook("whsec_", signedBy(SECRET), BODY)).rejects.toBeInstanceOf(TypeError);
  await expect(verifyWebhook("§", signedBy(SECRET), BODY)).rejects.toBeInstanceOf(TypeError);
});
