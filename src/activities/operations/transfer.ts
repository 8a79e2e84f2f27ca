/** Runs an export or an import as an operation: each step stores its progress. */
import { type Operation, completeOperation, noteProgress } from "../../db/outbox/operations.ts";
import type { Database, OrganizationRef } from "../../db/pool.ts";
import { ARCHIVE_VERSION, type Manifest } from "../../domain/archive.ts";
import { DomainError } from "../../domain/errors.ts";
import type { MasterKey } from "../../domain/tenancy/wrapped-keys.ts";
import type { OperationStep } from "../../domain/work/operation.ts";
import { openArchive, readManifest } from "../../storage/archive.ts";
import { ARCHIVE_KEY_AAD } from "../../storage/keys/keyring.ts";
import { type ExportProgress, exportStep } from "./export-organization.ts";
import { type ImportDeps, type ImportProgress, importStep } from "./import-organization.ts";

interface TransferDeps extends ImportDeps {
  readonly db: Database;
  readonly masterKey: MasterKey;
}

const NEXT: OperationStep = { done: false, waitSeconds: 0 };
const DONE: OperationStep = { done: true, waitSeconds: 0 };
const NOTHING = { documents: 0, files: 0 };

/** A hopeless error ends the operation with `failed` in its report; an outage is retried. */
export async function transferStep(
  deps: TransferDeps,
  operation: Operation,
  organization: OrganizationRef,
): Promise<OperationStep> {
  const { id, report } = operation;
  try {
    const { progress, done } =
      operation.kind === "export_organization"
        ? await exported(deps, operation, organization)
        : await imported(deps, operation);
    if (done) await completeOperation(deps.db, id, { organization_id: organization.id, ...progress });
    else await noteProgress(deps.db, id, { ...progress });
    return done ? DONE : NEXT;
  } catch (error) {
    if (!(error instanceof DomainError) || error.class !== "hopeless") throw error;
    await completeOperation(deps.db, id, {
      ...report,
      organization_id: organization.id,
      failed: error.message,
    });
    return DONE;
  }
}

type StepOutcome = { readonly progress: ExportProgress | ImportProgress; readonly done: boolean };

async function exported(
  deps: TransferDeps,
  { parameters, report }: Operation,
  organization: OrganizationRef,
): Promise<StepOutcome> {
  const archive = openArchive(folderOf(parameters), await keyOf(deps.masterKey, parameters));
  return exportStep({ deps, organization, archive }, { ...NOTHING, ...(report as Partial<ExportProgress>) });
}

async function imported(deps: TransferDeps, { id, parameters, report }: Operation): Promise<StepOutcome> {
  const folder = folderOf(parameters);
  const manifest = await manifestOf(folder, report["organization_num"] !== undefined);
  const version: number = manifest.version;
  if (version !== ARCHIVE_VERSION)
    throw new DomainError(
      "unsupported_file_type",
      `The archive has version ${version}, but this release reads version ${ARCHIVE_VERSION}.`,
    );
  const archive = openArchive(folder, await keyOf(deps.masterKey, parameters));
  return importStep(
    { deps, operationId: id, manifest, archive },
    { ...NOTHING, ...(report as Partial<ImportProgress>) },
  );
}

/** @throws DomainError `not_found`; `storage_unavailable` if the manifest was there when the import began */
async function manifestOf(folder: string, hasBegun: boolean): Promise<Manifest> {
  try {
    return (await readManifest(folder)) as Manifest;
  } catch (error) {
    if (hasBegun && error instanceof DomainError && error.code === "not_found")
      throw new DomainError("storage_unavailable", error.message, { cause: error });
    throw error;
  }
}

function folderOf(parameters: Readonly<Record<string, unknown>>): string {
  return String(parameters["folder"]);
}

function keyOf(masterKey: MasterKey, parameters: Readonly<Record<string, unknown>>): Promise<Buffer> {
  return masterKey.unwrap(Buffer.from(String(parameters["wrapped_key"]), "base64"), ARCHIVE_KEY_AAD);
}
