import { Combobox, Modal, ScrollArea, Text, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { useHoldfast, useRoles } from "../context.ts";
import { messages } from "../messages.ts";
import { spacesQuery } from "../spaces.ts";
import { type Place, findPlaces } from "./places.ts";

const TYPING_MS = 150;

/** Goes to a screen, space, agent or document by a few letters of its name. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { palette, nav } = useMessages(messages);
  const [text, setText] = useState("");
  const places = usePlaces(text, nav);
  const router = useRouter();
  const combobox = useCombobox({ opened: true });
  const go = (href: string): void => {
    onClose();
    void router.navigate({
      href: router.basepath === "/" ? href : `${router.basepath.replace(/\/$/u, "")}${href}`,
    });
  };
  return (
    <Modal opened onClose={onClose} title={palette.title} size="lg" yOffset="10vh" centered={false}>
      <Combobox store={combobox} onOptionSubmit={go} withinPortal={false}>
        <Combobox.EventsTarget>
          <TextInput
            aria-label={palette.placeholder}
            placeholder={palette.placeholder}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              combobox.updateSelectedOptionIndex();
            }}
            data-autofocus
          />
        </Combobox.EventsTarget>
        <Combobox.Options mt="xs" aria-label={palette.title}>
          <ScrollArea.Autosize mah="50vh">
            {places.length === 0 && <Combobox.Empty>{palette.nothing}</Combobox.Empty>}
            {places.map(({ href, name, kind }) => (
              <Combobox.Option value={href} key={href}>
                <Bidi>{name}</Bidi>{" "}
                <Text span size="xs" c="dimmed">
                  {palette[kind]}
                </Text>
              </Combobox.Option>
            ))}
          </ScrollArea.Autosize>
        </Combobox.Options>
      </Combobox>
    </Modal>
  );
}

function usePlaces(
  text: string,
  nav: ReturnType<typeof useMessages<typeof messages.en>>["nav"],
): readonly Place[] {
  const holdfast = useHoldfast();
  const { isAdmin, isOperator } = useRoles();
  const [asked] = useDebouncedValue(text.trim(), TYPING_MS);
  const { data: spaces = [] } = useQuery(spacesQuery(holdfast));
  const { data: found = [] } = useQuery({
    queryKey: ["documents", "palette", asked],
    queryFn: () => findPlaces(holdfast, asked),
    enabled: asked.length > 1,
    placeholderData: keepPreviousData,
  });
  const screen = (href: string, name: string): Place => ({ href, name, kind: "screen" });
  const known: Place[] = [
    screen("/search", nav.search),
    screen("/chat", nav.chat),
    screen("/agents", nav.agents),
    screen("/people", nav.people),
    screen("/keys", nav.keys),
    ...(isAdmin ? [screen("/organization/usage", nav.organization)] : []),
    ...(isOperator ? [screen("/operations", nav.operations)] : []),
    ...spaces.map(({ id, name, is_private: isPrivate }): Place => ({
      href: `/spaces/${id}`,
      name: isPrivate ? nav.privateSpace : name,
      kind: "space",
    })),
  ];
  const wanted = text.trim().toLowerCase();
  const named = known.filter(({ name }) => name.toLowerCase().includes(wanted));
  return [...named, ...(wanted.length > 1 ? found : [])].slice(0, SHOWN);
}

const SHOWN = 30;
