#!/usr/bin/env node
/** `holdfast`: the commands of operators. */
import { Command } from "commander";
import { ConfigError } from "../config.ts";
import { MissingLoginError } from "../db/pool.ts";
import { DomainError } from "../domain/errors.ts";
import { ProvisionError } from "../domain/provision.ts";
import { ExpectedFailure } from "../expected-failure.ts";
import { addAuditCommand } from "./audit.ts";
import { addBackupCommand } from "./backup.ts";
import { addDrillCommand } from "./drill.ts";
import { addIntegrityCommand } from "./integrity.ts";
import { addKeysCommand } from "./keys.ts";
import { addMigrateCommand } from "./migrate.ts";
import { addOrganizationCommand } from "./operations.ts";
import { addProvisionCommand } from "./provision.ts";
import { addSealsCommand } from "./seals.ts";
import { addTokenCommand } from "./token.ts";
import { addTransferCommands } from "./transfer.ts";

const program = new Command("holdfast").description("Commands for those who run Holdfast. Settings come from the environment, as for the service.");
addMigrateCommand(program);
addProvisionCommand(program);
addKeysCommand(program);
addTokenCommand(program);
addIntegrityCommand(program);
addAuditCommand(program);
addBackupCommand(program);
addDrillCommand(program);
addSealsCommand(program);
addTransferCommands(addOrganizationCommand(program));

const EXPECTED = [ExpectedFailure, ConfigError, DomainError, MissingLoginError, ProvisionError];

try {
  await program.parseAsync();
} catch (error) {
  const isExpected = EXPECTED.some((kind) => error instanceof kind);
  const shown = error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${shown}\n`);
  process.exitCode = 1;
}
