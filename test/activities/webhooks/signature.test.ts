/**
 * Signatures of deliveries, as the official library for JavaScript verifies them; deliver.database.test.ts
 * asks that for Python too.
 */
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newSecret } from "../../support/events/endpoints.ts";
import { signedHeaders } from "../../../src/activities/webhooks/signature.ts";

const SECRET = newSecret();
const body = JSON.stringify({ id: "an event", type: "document.completed", note: "größer als ✓" });
const timestamp = Math.floor(Date.now() / 1_000);
const sign = (...secrets: string[]) => signedHeaders(secrets, { id: "event-1", timestamp, body });

test("the library for JavaScript accepts it, and nothing that was changed", () => {
  const headers = sign(SECRET);
  const library = new Webhook(SECRET);
  expect(library.verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => library.verify(`${body} `, headers)).toThrow("No matching signature");
  expect(() => library.verify(body, { ...headers, "webhook-id": "event-2" })).toThrow(
    "No matching signature",
  );
  expect(() => library.verify(body, sign(newSecret()))).toThrow("No matching signature");
});

test("while a secret is rolled, receivers with either of the two accept it", () => {
  const next = newSecret();
  const headers = sign(next, SECRET);
  for (const secret of [SECRET, next]) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
});
