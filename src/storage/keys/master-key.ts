/** Opens the master key that the settings name: one that they hold, or one of a key management service. */
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import type { CloudKmsSettings } from "./cloud-kms.ts";
import { localMasterKey, withPreviousKey } from "./keyring.ts";

interface MasterKeySettings {
  /** 32 bytes; set if `kmsKeyName` is not. */
  readonly master: Buffer | undefined;
  readonly kmsKeyName: string | undefined;
  /** The key that wrapped before, or that will wrap from the next restart on. */
  readonly previous: Buffer | undefined;
  readonly previousKmsKeyName: string | undefined;
  readonly kmsEmulatorHost: string | undefined;
}

/** @throws Error if neither key is set. */
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

/** Loads Google's client only if it is used, since that takes a tenth of a second of a process's start. */
async function openCloudKey(settings: CloudKmsSettings): Promise<MasterKey> {
  const { cloudKmsMasterKey } = await import("./cloud-kms.ts");
  return cloudKmsMasterKey(settings);
}
