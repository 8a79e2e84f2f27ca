import { ActionIcon, Divider, Group, NavLink, ScrollArea, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { useHoldfast, useRoles } from "../context.ts";
import { messages } from "../messages.ts";
import { spacesQuery } from "../spaces.ts";

/** The screens, and the spaces that the person reaches. What they may not open is not offered. */
export function Navigation(): ReactNode {
  const texts = useMessages(messages).nav;
  const { isAdmin, isOperator } = useRoles();
  return (
    <>
      <ScreenLink to="/search" label={texts.search} />
      <ScreenLink to="/chat" label={texts.chat} />
      <ScreenLink to="/agents" label={texts.agents} />
      <Divider my="xs" />
      <Spaces />
      <Divider my="xs" />
      <ScreenLink to="/people" label={texts.people} />
      <ScreenLink to="/keys" label={texts.keys} />
      {isAdmin && <ScreenLink to="/organization" label={texts.organization} />}
      {isOperator && <ScreenLink to="/operations" label={texts.operations} />}
      <NavLink href="/docs" label={texts.documentation} target="_blank" rel="noreferrer" />
    </>
  );
}

const NewSpace = lazy(async () => ({ default: (await import("./new-space.tsx")).NewSpace }));

type ScreenPath = "/search" | "/chat" | "/agents" | "/people" | "/keys" | "/organization" | "/operations";

function ScreenLink({ to, label }: { readonly to: ScreenPath; readonly label: string }): ReactNode {
  const { pathname } = useLocation();
  const isHere = pathname === to || pathname.startsWith(`${to}/`);
  return (
    <NavLink
      label={label}
      active={isHere}
      aria-current={isHere ? "page" : undefined}
      renderRoot={(props) => <Link to={to} {...props} />}
    />
  );
}

function Spaces(): ReactNode {
  const texts = useMessages(messages).nav;
  const holdfast = useHoldfast();
  const { data: spaces = [] } = useQuery(spacesQuery(holdfast));
  const { pathname } = useLocation();
  const [isNew, setIsNew] = useState(false);
  return (
    <>
      <Group justify="space-between" px="xs">
        <Text size="sm" fw={600} id="navigation-spaces">
          {texts.spaces}
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="md"
          aria-label={texts.newSpace}
          title={texts.newSpace}
          onClick={() => setIsNew(true)}
        >
          <span aria-hidden>+</span>
        </ActionIcon>
      </Group>
      <ScrollArea flex={1} type="auto" aria-labelledby="navigation-spaces">
        {spaces.map(({ id, name, is_private: isPrivate }) => {
          const isHere = pathname === `/spaces/${id}`;
          return (
            <NavLink
              key={id}
              label={isPrivate ? texts.privateSpace : <Bidi>{name}</Bidi>}
              active={isHere}
              aria-current={isHere ? "page" : undefined}
              renderRoot={(props) => <Link to="/spaces/$spaceId" params={{ spaceId: id }} {...props} />}
            />
          );
        })}
      </ScrollArea>
      <Suspense>{isNew && <NewSpace onClose={() => setIsNew(false)} />}</Suspense>
    </>
  );
}
