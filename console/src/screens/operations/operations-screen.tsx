import { Anchor, Button, Group, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useConsole, useRoles } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { Dependencies } from "./dependencies.tsx";
import { messages } from "./messages.ts";
import { Orphans } from "./orphans.tsx";
import { Processes } from "./processes.tsx";
import { Queues } from "./queues.tsx";
import { Waiting } from "./waiting.tsx";
import { LongWork } from "./long-work.tsx";

/** The conditions of the service, for operators. */
export function OperationsScreen(): ReactNode {
  const texts = useMessages(messages);
  const { isOperator } = useRoles();
  if (!isOperator)
    return (
      <>
        <PageHeader title={texts.title} />
        <Empty title={texts.denied} text={texts.deniedText} />
      </>
    );
  return <Conditions />;
}

function Conditions(): ReactNode {
  const texts = useMessages(messages);
  const queries = useQueryClient();
  const refresh = (): void => void queries.invalidateQueries({ queryKey: ["operations"] });
  useShortcuts([{ keys: "r", label: texts.keys.refresh, run: refresh }]);
  return (
    <>
      <PageHeader title={texts.title} text={texts.text}>
        <Links />
        <Button variant="default" onClick={refresh}>
          {texts.refresh}
        </Button>
      </PageHeader>
      <Stack gap="xl">
        <Dependencies />
        <Queues />
        <Waiting />
        <LongWork />
        <Orphans />
        <Processes />
      </Stack>
    </>
  );
}

/** Where more is seen, as the configuration of the service names it. */
function Links(): ReactNode {
  const texts = useMessages(messages);
  const { configuration } = useConsole();
  const { temporal_ui: temporal, temporal_namespace: namespace, metrics } = configuration;
  const target = { target: "_blank", rel: "noreferrer", underline: "always", size: "sm" } as const;
  if (temporal === null && metrics.length === 0) return null;
  return (
    <Group gap="md" component="nav" aria-label={texts.links}>
      {temporal !== null && (
        <Anchor {...target} href={namespace === null ? temporal : workflowsOf(temporal, namespace)}>
          {texts.temporal}
        </Anchor>
      )}
      {metrics.map((address) => (
        <Anchor key={address} {...target} href={address}>
          {texts.metrics(address)}
        </Anchor>
      ))}
    </Group>
  );
}

const workflowsOf = (ui: string, namespace: string): string =>
  `${ui.replace(/\/+$/, "")}/namespaces/${encodeURIComponent(namespace)}/workflows`;
