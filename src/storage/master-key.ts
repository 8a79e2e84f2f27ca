/** The only place that chooses what wraps organization keys: a key in the settings, or one of a key management service. */
import { cloudKmsMasterKey } from "./cloud-kms.ts";
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
export function openMasterKey({ master, kmsKeyName, previous, previousKmsKeyName, kmsEmulatorHost }: MasterKeySettings): MasterKey {
  const open = (bytes: Buffer | undefined, keyName: string | undefined): MasterKey | undefined =>
    keyName === undefined ? bytes && localMasterKey(bytes) : cloudKmsMasterKey({ keyName, emulatorHost: kmsEmulatorHost });
  const current = open(master, kmsKeyName);
  const before = open(previous, previousKmsKeyName);
  if (current === undefined) throw new Error("No master key is set.");
  return before === undefined ? current : withPreviousKey(current, before);
}
