/** The commands of `holdfast`. */
import { Command } from "commander";
import { addAuditCommand } from "./commands/audit.ts";
import { addBackupCommand } from "./commands/backup.ts";
import { addDoctorCommand } from "./doctor/doctor.ts";
import { addDrillCommand } from "./commands/drill.ts";
import { addIntegrityCommand } from "./commands/integrity.ts";
import { addKeysCommand } from "./commands/keys.ts";
import { addMcpConfigCommand } from "./commands/mcp-config.ts";
import { addMigrateCommand } from "./commands/migrate.ts";
import { addOrganizationCommand } from "./commands/operations.ts";
import { addCreateCommand } from "./commands/organization-create.ts";
import { addProvisionCommand } from "./commands/provision.ts";
import { addReceiptCommand } from "./commands/receipt.ts";
import { addTokenCommand } from "./commands/token.ts";
import { addOperationsCommand } from "./commands/work.ts";
import { addTransferCommands } from "./commands/transfer.ts";

/** @returns the program with all commands, before it has parsed any arguments. */
export function createProgram(): Command {
  const program = new Command("holdfast").description(
    "Commands for operators of Holdfast. Settings come from the environment, as for the service.",
  );
  addDoctorCommand(program);
  addMigrateCommand(program);
  addProvisionCommand(program);
  addKeysCommand(program);
  addOperationsCommand(program);
  addTokenCommand(program);
  addMcpConfigCommand(program);
  addIntegrityCommand(program);
  addAuditCommand(program);
  addBackupCommand(program);
  addDrillCommand(program);
  addReceiptCommand(program);
  const organization = addOrganizationCommand(program);
  addCreateCommand(organization);
  addTransferCommands(organization);
  return program;
}
