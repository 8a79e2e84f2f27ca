import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalAddress, canonicalCidr, isWithin, networksOf } from "../../../src/domain/tenancy/cidr.ts";

describe("a network", () => {
  it.each([
    ["192.0.2.0/24", "192.0.2.0/24"],
    ["192.0.2.7", "192.0.2.7/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:DB8::/32", "2001:db8::/32"],
    ["2001:db8:0:0:0:0:0:1", "2001:db8::1/128"],
    ["::/0", "::/0"],
    ["::ffff:192.0.2.0/120", "192.0.2.0/24"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
    ["::192.0.2.0/120", "::c000:200/120"],
  ])("%s is kept as %s", (text, canonical) => {
    expect(canonicalCidr(text)).toBe(canonical);
  });

  it.each([
    "",
    "office",
    "192.0.2.7/24",
    "192.0.2.0/33",
    "192.0.2.0/024",
    "192.0.2.0/-1",
    "192.0.2.0/24/24",
    "192.0.2/24",
    "010.0.0.0/8",
    "2001:db8::1/32",
    "2001:db8::/129",
    "fe80::1%eth0",
    "::ffff:0:0/80",
    " 192.0.2.7",
    "192.0.2.7\n",
  ])("%j is none", (text) => {
    expect(canonicalCidr(text)).toBeNull();
  });
});

describe("an address", () => {
  it.each([
    ["192.0.2.7", ["192.0.2.0/24"], true],
    ["192.0.3.7", ["192.0.2.0/24"], false],
    ["192.0.3.7", ["192.0.2.0/24", "192.0.3.7/32"], true],
    ["::ffff:192.0.2.7", ["192.0.2.0/24"], true],
    ["::ffff:c000:207", ["192.0.2.0/24"], true],
    ["192.0.2.7", ["::/0"], false],
    ["2001:db8::5", ["2001:db8::/32"], true],
    ["2001:db9::5", ["2001:db8::/32"], false],
    ["2001:db8::5", ["0.0.0.0/0"], false],
    ["::192.0.2.7", ["192.0.2.0/24"], false],
    ["::192.0.2.7", ["::192.0.2.0/120"], true],
    ["unknown", ["0.0.0.0/0", "::/0"], false],
    ["", ["0.0.0.0/0", "::/0"], false],
    ["192.0.2.7:4711", ["0.0.0.0/0", "::/0"], false],
    ["[2001:db8::5]:4711", ["0.0.0.0/0", "::/0"], false],
  ])("%s in %j: %s", (address, cidrs, expected) => {
    expect(isWithin(networksOf(cidrs), address)).toBe(expected);
  });

  it("is in a network exactly if Node's own list says so", () => {
    const length = fc.integer({ min: 0, max: 32 });
    fc.assert(
      // An address that shares its first bits with the network is often within it, another hardly ever.
      fc.property(fc.ipV4(), fc.ipV4(), length, fc.option(length), (base, other, prefix, shared) => {
        const address = shared === null ? other : maskOf(base, shared);
        const masked = maskOf(base, prefix);
        const list = new BlockList();
        list.addSubnet(masked, prefix, "ipv4");
        return (
          isWithin(networksOf([canonicalCidr(`${masked}/${prefix}`)!]), address) ===
          list.check(address, "ipv4")
        );
      }),
    );
  });

  it("of IPv6 too", () => {
    const length = fc.integer({ min: 0, max: 128 });
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), length, fc.option(length), (base, other, prefix, shared) => {
        const address = shared === null ? other : firstOf(base, shared).split("/")[0]!;
        const list = new BlockList();
        list.addSubnet(base, prefix, "ipv6");
        const masked = firstOf(base, prefix);
        const [network, asked] = [canonicalCidr(masked)!, canonicalAddress(address)!];
        // Node's list also takes the IPv4 form and the mapped IPv6 form of an address as one, but not in a
        // network that is larger than the range of mapped addresses.
        return (
          network.includes(".") !== asked.includes(".") ||
          isWithin(networksOf([network]), address) === list.check(address, "ipv6")
        );
      }),
    );
  });

  it("has one canonical text", () => {
    expect(canonicalAddress("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(canonicalAddress("2001:DB8:0:0::1")).toBe("2001:db8::1");
    expect(canonicalAddress("192.0.2.1:443")).toBeNull();
    fc.assert(fc.property(fc.ipV6(), (text) => isIP(canonicalAddress(text) ?? "") > 0));
  });
});

function maskOf(address: string, prefix: number): string {
  const bits = address.split(".").map((part) => Number(part).toString(2).padStart(8, "0"));
  const kept = bits.join("").slice(0, prefix).padEnd(32, "0");
  return [0, 8, 16, 24].map((start) => Number.parseInt(kept.slice(start, start + 8), 2)).join(".");
}

/** Returns the network of this length around an address, with its groups written out. */
function firstOf(address: string, prefix: number): string {
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const [head = [], tail = []] = groups.map((part) => (part === "" ? [] : part.split(":")));
  const all = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
  const bits = all.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0")).join("");
  const kept = bits.slice(0, prefix).padEnd(128, "0");
  const written = Array.from({ length: 8 }, (_, at) =>
    Number.parseInt(kept.slice(at * 16, at * 16 + 16), 2).toString(16),
  );
  return `${written.join(":")}/${prefix}`;
}
