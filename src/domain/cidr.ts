/** IP addresses and the networks (CIDR, RFC 4632 and 4291) that a key may be used from. An IPv4 address inside an IPv6 one (`::ffff:192.0.2.1`) is the IPv4 address. */

interface Address {
  /** 32 for IPv4, 128 for IPv6. */
  readonly bits: 32 | 128;
  readonly value: bigint;
}

interface Network extends Address {
  readonly prefix: number;
}

const GROUPS = 8;
/** What stands before an IPv4 address inside an IPv6 one: `::ffff`. */
const MAPPED = 0xffffn;

/** The canonical text of a network, as Postgres writes a `cidr`; an address alone is a network of its own. Null for what is none, or has bits behind its prefix. */
export function canonicalCidr(text: string): string | null {
  const network = readNetwork(text);
  return network === null ? null : `${show(network)}/${network.prefix}`;
}

/** The canonical text of an address; null for what is none. */
export function canonicalAddress(text: string): string | null {
  const address = readAddress(text);
  return address === null ? null : show(address);
}

/** Whether the address is in one of the networks. False for what is no address. */
export function isWithin(cidrs: readonly string[], address: string): boolean {
  const asked = readAddress(address);
  if (asked === null) return false;
  return cidrs.some((cidr) => {
    const network = readNetwork(cidr);
    if (network?.bits !== asked.bits) return false;
    const free = BigInt(network.bits - network.prefix);
    return asked.value >> free === network.value >> free;
  });
}

function readNetwork(text: string): Network | null {
  const [, base = "", length] = /^([0-9a-f.:]{1,64})(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const written = readWritten(base);
  if (written === null) return null;
  const prefix = length === undefined ? written.bits : Number(length);
  if (prefix > written.bits || (written.value & ((1n << BigInt(written.bits - prefix)) - 1n)) !== 0n) return null;
  const address = unmapped(written);
  // Of one inside IPv6 the prefix is at least 96: the set bits of `::ffff` are not behind it.
  return { ...address, prefix: prefix - (written.bits - address.bits) };
}

function readAddress(text: string): Address | null {
  const written = readWritten(text);
  return written === null ? null : unmapped(written);
}

function readWritten(text: string): Address | null {
  return text.includes(":") ? readIpv6(text) : readIpv4(text);
}

function readIpv4(text: string): Address | null {
  const parts = text.split(".", 5);
  const isRight = parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
  return isRight ? { bits: 32, value: joined(parts.map(Number), 8n) } : null;
}

function readIpv6(text: string): Address | null {
  // The parser of addresses in URLs knows every way to write one; it gives what is left out, and a dotted end, as groups of hexadecimal digits.
  const url = `http://[${text}]/`;
  if (!/^[0-9a-f:.]{2,64}$/i.test(text) || !URL.canParse(url)) return null;
  const [before = "", after] = new URL(url).hostname.slice(1, -1).split("::");
  const head = groupsOf(before);
  const tail = groupsOf(after ?? "");
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => 0);
  return { bits: 128, value: joined([...head, ...zeros, ...tail], 16n) };
}

function groupsOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n);
}

function unmapped(address: Address): Address {
  return address.bits === 128 && address.value >> 32n === MAPPED ? { bits: 32, value: address.value & 0xffffffffn } : address;
}

function show({ bits, value }: Address): string {
  const parts = (count: number, width: bigint): bigint[] => Array.from({ length: count }, (_, index) => (value >> (BigInt(count - 1 - index) * width)) & ((1n << width) - 1n));
  if (bits === 32) return parts(4, 8n).join(".");
  const full = parts(GROUPS, 16n).map((group) => group.toString(16));
  return new URL(`http://[${full.join(":")}]/`).hostname.slice(1, -1);
}
