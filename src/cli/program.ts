/** The commands of `holdfast`. */
import { Command } from "commander";

type Add = (program: Command) => unknown;

/** Adds a command, by its name. Each is loaded by itself: loading all takes longer than most of them run. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  doctor: async () => (await import("./doctor/doctor.ts")).addDoctorCommand,
  migrate: async () => (await import("./commands/migrate.ts")).addMigrateCommand,
  provision: async () => (await import("./commands/provision.ts")).addProvisionCommand,
  keys: async () => (await import("./commands/keys.ts")).addKeysCommand,
  operations: async () => (await import("./commands/work.ts")).addOperationsCommand,
  token: async () => (await import("./commands/token.ts")).addTokenCommand,
  "mcp-config": async () => (await import("./commands/mcp-config.ts")).addMcpConfigCommand,
  integrity: async () => (await import("./commands/integrity.ts")).addIntegrityCommand,
  audit: async () => (await import("./commands/audit.ts")).addAuditCommand,
  backup: async () => (await import("./commands/backup.ts")).addBackupCommand,
  drill: async () => (await import("./commands/drill.ts")).addDrillCommand,
  receipt: async () => (await import("./commands/receipt.ts")).addReceiptCommand,
  organization: async () => {
    const { addOrganizationCommand } = await import("./commands/operations.ts");
    const { addCreateCommand } = await import("./commands/organization-create.ts");
    const { addTransferCommands } = await import("./commands/transfer.ts");
    return (program) => {
      const organization = addOrganizationCommand(program);
      addCreateCommand(organization);
      addTransferCommands(organization);
    };
  },
};

/**
 * @param name the command that will be run; if it is none, the program gets all, to list or suggest them.
 * @returns the program before it has parsed any arguments.
 */
export async function createProgram(name?: string): Promise<Command> {
  const program = new Command("holdfast").description(
    "Commands for operators of Holdfast. Settings come from the environment, as for the service.",
  );
  const known = name !== undefined && Object.hasOwn(COMMANDS, name);
  for (const load of known ? [COMMANDS[name]!] : Object.values(COMMANDS)) (await load())(program);
  return program;
}
