/**
 * IP addresses and networks (CIDR) that a key may be used from. An IPv4 address mapped into IPv6
 * (`::ffff:192.0.2.1`) counts as the IPv4 address.
 * @see https://www.rfc-editor.org/rfc/rfc4632 and https://www.rfc-editor.org/rfc/rfc4291
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address whose bits after the prefix are 0, and the prefix length. */
export type Network = readonly [Address, number];

/**
 * The canonical text of a network, as Postgres writes a `cidr`. A single address is a network too. Null if it
 * is not a network, or has bits set after its prefix.
 * @example canonicalCidr("192.0.2.7") // "192.0.2.7/32"
 */
export function canonicalCidr(text: string): string | null {
  const [, base = "", length] = /^([0-9a-f.:]{1,64})(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const written = readWritten(base);
  if (written === null) return null;
  const bits = bitsOf(written);
  const prefix = length === undefined ? bits : Number(length);
  if (prefix > bits || firstOf(written, prefix).toString() !== written.toString()) return null;
  const address = unmapped(written);
  // The prefix of a mapped address is at least 96, because the set bits of `::ffff` must not come after it.
  return `${address.toString()}/${prefix - (bits - bitsOf(address))}`;
}

/** The canonical text of an address; null if it is not one. */
export function canonicalAddress(text: string): string | null {
  return readAddress(text)?.toString() ?? null;
}

/** Parses canonical texts. @throws TypeError if one is no network: they were checked when stored */
export function networksOf(cidrs: readonly string[]): Network[] {
  return cidrs.map((cidr) => {
    const [base = "", prefix] = cidr.split("/");
    const address = readWritten(base);
    if (address === null) throw new TypeError("a stored network is none");
    return [address, Number(prefix)];
  });
}

/** True if the address is in one of the networks. False if it is not an address. */
export function isWithin(networks: readonly Network[], address: string): boolean {
  const asked = readAddress(address);
  return (
    asked !== null &&
    networks.some(([base, prefix]) => base.kind() === asked.kind() && asked.match(base, prefix))
  );
}

function readAddress(text: string): Address | null {
  const written = readWritten(text);
  return written === null ? null : unmapped(written);
}

/** Four decimal numbers, or IPv6 without a zone. Octal and shorter forms mean different things elsewhere. */
function readWritten(text: string): Address | null {
  if (!/^[0-9a-f.:]{2,64}$/i.test(text)) return null;
  if (!text.includes(":")) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
  if (!ipaddr.IPv6.isValid(text)) return null;
  // The deprecated `::192.0.2.1` is IPv6. The library takes it for IPv4; `URL` does not.
  return ipaddr.IPv6.parse(/^::\d+\./.test(text) ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text);
}

function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function bitsOf(address: Address): 32 | 128 {
  return address.kind() === "ipv4" ? 32 : 128;
}

function firstOf(address: Address, prefix: number): Address {
  const cidr = `${address.toString()}/${prefix}`;
  return address.kind() === "ipv4"
    ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
    : ipaddr.IPv6.networkAddressFromCIDR(cidr);
}
