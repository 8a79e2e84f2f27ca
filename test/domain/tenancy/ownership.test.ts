import { describe, expect, it } from "vitest";
import { callerIdOf, ownedBy } from "../../../src/domain/tenancy/ownership.ts";

const user = { id: "u", email: "u@example.org", name: "U", avatar_url: null };
const caller = (is: { login?: true; isScoped?: true; isMadeByOther?: true }) => ({
  user,
  apiKeyId: is.login === true ? null : "k",
  isScoped: is.isScoped === true,
  isMadeByOther: is.isMadeByOther === true,
});

describe("what belongs to a person", () => {
  it.each([
    ["a login", caller({ login: true }), null, null],
    ["a key of its owner", caller({}), null, null],
    ["a key that is narrowed to spaces", caller({ isScoped: true }), "k", null],
    ["a key that somebody else made", caller({ isMadeByOther: true }), "k", "k"],
    ["one that is narrowed too", caller({ isScoped: true, isMadeByOther: true }), "k", "k"],
  ])("is reached by %s as far as it may", (_, principal, inNoSpace, inSpaces) => {
    expect(ownedBy(principal, "in no space")).toEqual(["u", inNoSpace]);
    expect(ownedBy(principal, "in spaces")).toEqual(["u", inSpaces]);
  });
});

it("an answer is kept for the key, or for the person who logged in", () => {
  expect(callerIdOf(caller({}))).toBe("k");
  expect(callerIdOf(caller({ login: true }))).toBe("u");
});
