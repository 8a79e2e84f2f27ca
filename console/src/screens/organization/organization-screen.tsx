import { Tabs } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy } from "react";
import { useMe, useRoles } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { ScreenLoading } from "../../parts/screen-loading.tsx";
import { messages } from "./messages.ts";

const Usage = lazy(async () => ({ default: (await import("./usage/usage.tsx")).Usage }));
const Audit = lazy(async () => ({ default: (await import("./audit/audit.tsx")).Audit }));
const Webhooks = lazy(async () => ({ default: (await import("./webhooks/webhooks.tsx")).Webhooks }));
const Settings = lazy(async () => ({ default: (await import("./settings.tsx")).Settings }));

const PARTS = { usage: Usage, audit: Audit, webhooks: Webhooks, settings: Settings } as const;
type Part = keyof typeof PARTS;

/** Everybody may open the webhooks of spaces that they own; the rest is for admins. */
const OPEN_TO_ALL: readonly Part[] = ["webhooks"];

export function OrganizationScreen(): ReactNode {
  const texts = useMessages(messages);
  const { part } = useParams({ from: "/organization/$part" });
  const navigate = useNavigate();
  const { organization } = useMe();
  const { isAdmin } = useRoles();
  const parts = (Object.keys(PARTS) as Part[]).filter((each) => isAdmin || OPEN_TO_ALL.includes(each));
  const shown = parts.find((each) => each === part) ?? parts[0]!;
  const Shown = PARTS[shown];
  return (
    <>
      <PageHeader title={organization.name} />
      <Tabs
        value={shown}
        onChange={(next) => void navigate({ to: "/organization/$part", params: { part: next ?? shown } })}
        keepMounted={false}
      >
        <Tabs.List aria-label={texts.tabsLabel}>
          {parts.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {texts.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {parts.map((each) => (
          <Tabs.Panel key={each} value={each} pt="md">
            <Suspense fallback={<ScreenLoading />}>
              <Shown />
            </Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}
