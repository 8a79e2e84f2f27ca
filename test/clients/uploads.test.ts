/** Tests how the client waits for documents, against a service that a test plays itself. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type UploadAndWaitOptions, createHoldfast } from "../../clients/typescript/src/index.ts";
import { type ScriptedService, createScriptedService } from "../support/clients/scripted-service.ts";
import { until } from "../support/until.ts";

let service: ScriptedService;
let upload: (options?: Partial<UploadAndWaitOptions>) => Promise<{ id: string }>;

/** After which the client looks at the document that has waited longest. */
const LOOK_MS = 60_000;

beforeEach(() => {
  // Otherwise a look would find what an event should have told.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  service = createScriptedService();
  const client = createHoldfast({ baseUrl: "http://service", credential: "sk", fetch: service.fetch });
  upload = (options = {}) =>
    client.uploadAndWait({ file: new Blob(["x"]), filename: "x.md", spaceId: "space", ...options });
});

afterEach(() => void vi.useRealTimers());

const countOf = (asked: string): number => service.asked.filter((one) => one === asked).length;
const isAccepted = (count = 1) =>
  until(
    "the uploads are accepted and the stream is open",
    () => countOf("POST /v1/data/upload") === count && countOf("GET /v1/events/stream") > 0,
  );

test("many waits share one stream, and read their document once it has ended", async () => {
  const waits = Array.from({ length: 50 }, () => upload());
  await isAccepted(50);
  for (let number = 50; number >= 1; number -= 1) {
    service.set(`document-${number}`, "completed");
    service.tell("document.completed", `document-${number}`);
  }
  expect((await Promise.all(waits)).map(({ id }) => id)).toHaveLength(50);
  expect(countOf("GET /v1/events")).toBe(1);
  expect(countOf("GET /v1/events/stream")).toBe(1);
  expect(service.asked.filter((one) => one.startsWith("GET /v1/data/"))).toHaveLength(50);
});

test("a document that is ready before its upload was answered is not waited for", async () => {
  const answer = service.holdUploads();
  const waiting = upload();
  await isAccepted();
  service.set("document-1", "completed");
  service.tell("document.completed", "document-1");
  answer();
  expect(await waiting).toMatchObject({ id: "document-1" });
});

test.each([
  ["failed", "encrypted", { name: "HoldfastError", code: "encrypted", message: "It is encrypted." }],
  ["cancelled", "cancelled", { name: "HoldfastError", code: "cancelled", status: undefined }],
  ["deleted", undefined, { name: "NotFoundError", code: "deleted", status: 404 }],
] as const)("a document that is %s throws an error that says so", async (status, code, error) => {
  const waiting = upload();
  await isAccepted();
  service.set("document-1", status, code);
  service.tell(`document.${status}`, "document-1");
  await expect(waiting).rejects.toMatchObject(error);
});

test("a run that another one supersedes does not end the wait", async () => {
  const states: unknown[] = [];
  const waiting = upload({ onState: ({ processing_state: state }) => states.push(state.pipeline_status) });
  await isAccepted();
  service.tell("document.cancelled", "document-1");
  await until("the document was read", () => states.length === 1);
  service.set("document-1", "completed");
  service.tell("document.completed", "document-1");
  await waiting;
  expect(states).toEqual(["queued", "completed"]);
});

test("a stream that breaks is taken up again", async () => {
  const waiting = upload();
  await isAccepted();
  service.cut();
  await until("another stream is open", () => countOf("GET /v1/events/stream") === 2);
  service.set("document-1", "completed");
  service.tell("document.completed", "document-1");
  expect(await waiting).toMatchObject({ id: "document-1" });
});

test.each([
  ["a service without events", { path: "/v1/events", status: 404 }],
  ["streams that are all in use", { path: "/v1/events/stream", status: 429 }],
])("%s: documents are polled", async (_what, refusal) => {
  service.refuse(refusal);
  const waiting = upload({ pollMs: 5 });
  await until("it polls", () => countOf("GET /v1/data/document-1") > 3);
  service.set("document-1", "completed");
  expect(await waiting).toMatchObject({ id: "document-1" });
});

test("a document out of reach ends the wait though nobody tells it", async () => {
  const waiting = upload();
  await isAccepted();
  service.set("document-1", "deleted");
  vi.advanceTimersByTime(LOOK_MS);
  await expect(waiting).rejects.toMatchObject({ code: "deleted" });
});

test("one document that is out of reach has the others look", async () => {
  const waiting = [upload(), upload(), upload()];
  await isAccepted(3);
  for (const id of ["document-1", "document-2", "document-3"]) service.set(id, "deleted");
  vi.advanceTimersByTime(LOOK_MS);
  const ends = await Promise.allSettled(waiting);
  expect(ends).toMatchObject(Array(3).fill({ reason: { code: "deleted" } }));
});

test("the signal ends the wait at any time, and a later upload works", async () => {
  const given = new AbortController();
  const waiting = upload({ signal: given.signal });
  await isAccepted();
  given.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(upload({ signal: given.signal })).rejects.toThrow("enough");
  const next = upload();
  await isAccepted(2);
  service.set("document-2", "completed");
  service.tell("document.completed", "document-2");
  expect(await next).toMatchObject({ id: "document-2" });
});
