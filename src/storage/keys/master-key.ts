/** The only place that chooses what wraps organization keys: a key in the settings, or one of a key management service. */
import type { CloudKmsSettings } from "./cloud-kms.ts";
import { type MasterKey, localMasterKey, withPreviousKey } from "./keyring.ts";

interface MasterKeySettings {
  /** 32 bytes; set where `kmsKeyName` is not. */
  readonly master: Buffer | undefined;
  readonly kmsKeyName: string | undefined;
  /** What wrapped keys before, or will from the next restart on. */
  readonly previous: Buffer | undefined;
  readonly previousKmsKeyName: string | undefined;
  readonly kmsEmulatorHost: string | undefined;
}

/** @throws Error where neither key is set. */
export async function openMasterKey(settings: MasterKeySettings): Promise<MasterKey> {
  const { master, kmsKeyName, previous, previousKmsKeyName, kmsEmulatorHost } = settings;
  const open = async (
    bytes: Buffer | undefined,
    keyName: string | undefined,
  ): Promise<MasterKey | undefined> =>
    keyName === undefined
      ? bytes && localMasterKey(bytes)
      : openCloudKey({ keyName, emulatorHost: kmsEmulatorHost });
  const current = await open(master, kmsKeyName);
  const before = await open(previous, previousKmsKeyName);
  if (current === undefined) throw new Error("No master key is set.");
  return before === undefined ? current : withPreviousKey(current, before);
}

/** Google's client is loaded only where it is used: it takes a tenth of a second of a process's start. */
async function openCloudKey(settings: CloudKmsSettings): Promise<MasterKey> {
  const { cloudKmsMasterKey } = await import("./cloud-kms.ts");
  return cloudKmsMasterKey(settings);
}
