import { describe, expect, it } from "vitest";
import { checkedTarget } from "../../../src/commands/webhooks/target.ts";
import { ValidationProblems } from "../../../src/schema/requests/problem.ts";

const ALLOWED = ["receiver.internal", "127.0.0.1", "*.lab.example"];

/** @returns the reason of the refusal; undefined if there is none. */
function refusal(url: string, allowHosts: readonly string[] = []): string | undefined {
  try {
    checkedTarget(url, allowHosts);
    return undefined;
  } catch (error) {
    if (!(error instanceof ValidationProblems)) throw error;
    return String(error.problems[0]!.ctx?.["error"]);
  }
}

describe("the target of a webhook", () => {
  it.each([
    ["https://receiver.example", "https://receiver.example/"],
    ["https://receiver.example:8443/hook?tenant=7", "https://receiver.example:8443/hook?tenant=7"],
    ["HTTPS://Receiver.Example/Hook", "https://receiver.example/Hook"],
    ["https://93.184.216.34/hook", "https://93.184.216.34/hook"],
  ])("%s is taken", (url, normal) => expect(checkedTarget(url, [])).toBe(normal));

  it.each([
    ["receiver.example/hook", "must be a URL"],
    ["https://", "must be a URL"],
    ["http://receiver.example", "must begin with https://"],
    ["ftp://receiver.example", "must begin with https://"],
    ["file:///etc/passwd", "must begin with https://"],
    ["https://user@receiver.example", "must not contain credentials"],
    ["https://:secret@receiver.example", "must not contain credentials"],
    ["https://receiver.example/#part", "must not have a fragment"],
    ["https://127.0.0.1/", "must be at a public address"],
    ["https://2130706433/", "must be at a public address"],
    ["https://0x7f.1/", "must be at a public address"],
    ["https://10.0.0.7/", "must be at a public address"],
    ["https://169.254.169.254/latest/meta-data", "must be at a public address"],
    ["https://[::1]/", "must be at a public address"],
    ["https://[::ffff:10.0.0.7]/", "must be at a public address"],
    ["https://[fd00::1]/", "must be at a public address"],
    ["https://localhost/", "must be at a public address"],
    ["https://service.localhost./", "must be at a public address"],
    [`https://receiver.example/${"ä".repeat(1_000)}`, "must have at most 2048 characters"],
  ])("%s is refused", (url, reason) => expect(refusal(url)).toBe(reason));

  it("may be private and without TLS only if its host is named", () => {
    expect(refusal("http://receiver.internal:8080/hook", ALLOWED)).toBeUndefined();
    expect(refusal("http://127.0.0.1:8080/hook", ALLOWED)).toBeUndefined();
    expect(refusal("http://one.lab.example/", ALLOWED)).toBeUndefined();
    expect(refusal("http://other.internal/", ALLOWED)).toBe("must begin with https://");
    expect(refusal("https://127.0.0.2/", ALLOWED)).toBe("must be at a public address");
    expect(refusal("http://user@receiver.internal/", ALLOWED)).toBe("must not contain credentials");
  });

  it("is not repeated by the refusal, since it may hold a secret", () => {
    expect(() => checkedTarget("http://receiver.example/s3cret", [])).toThrow(
      expect.not.objectContaining({
        problems: [expect.objectContaining({ input: expect.anything() as unknown })],
      }),
    );
  });
});
