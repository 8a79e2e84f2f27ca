/** The only list of the commands of `holdfast`. */
import { Command } from "commander";
import { addAuditCommand } from "./audit.ts";
import { addBackupCommand } from "./backup.ts";
import { addDoctorCommand } from "./doctor/doctor.ts";
import { addDrillCommand } from "./drill.ts";
import { addIntegrityCommand } from "./integrity.ts";
import { addKeysCommand } from "./keys.ts";
import { addMigrateCommand } from "./migrate.ts";
import { addOrganizationCommand } from "./operations.ts";
import { addCreateCommand } from "./organization-create.ts";
import { addProvisionCommand } from "./provision.ts";
import { addSealsCommand } from "./seals.ts";
import { addTokenCommand } from "./token.ts";
import { addOperationsCommand } from "./work.ts";
import { addTransferCommands } from "./transfer.ts";

/** All of them, yet to be given their arguments. */
export function createProgram(): Command {
  const program = new Command("holdfast").description("Commands for those who run Holdfast. Settings come from the environment, as for the service.");
  addDoctorCommand(program);
  addMigrateCommand(program);
  addProvisionCommand(program);
  addKeysCommand(program);
  addOperationsCommand(program);
  addTokenCommand(program);
  addIntegrityCommand(program);
  addAuditCommand(program);
  addBackupCommand(program);
  addDrillCommand(program);
  addSealsCommand(program);
  const organization = addOrganizationCommand(program);
  addCreateCommand(organization);
  addTransferCommands(organization);
  return program;
}
