/** How much of an item a model is shown that goes on from it. */
import type { ConversationLengths, ItemLengths } from "../../../../db/responses/items.ts";
import { type KeptItem, isObject, isPassedOver } from "../input.ts";

const MEBIBYTE = 1_024 * 1_024;
/** Of texts and pictures of a conversation together, which the provider is sent with each request. */
const MOST_CHARACTERS = 16 * MEBIBYTE;
/** A token is about four characters; what does not fit the model's context by far is refused unread. */
const CHARACTERS_A_TOKEN = 4;

/** Of all texts that a request brings in. The least is 500,000 tokens, several times a usual context. */
export const mostTextCharacters = (contextTokens: number): number =>
  Math.max(2 * MEBIBYTE, CHARACTERS_A_TOKEN * contextTokens);

/** @param characters of the item as JSON. */
export function itemLengths(item: KeptItem, characters: number): ItemLengths {
  return { isShown: !isPassedOver(item.type), characters, imageCharacters: imageCharacters(item) };
}

function imageCharacters(item: KeptItem): number {
  const { content } = item as { readonly content?: unknown };
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, part) => {
    const url = isObject(part) && part["type"] === "input_image" ? part["image_url"] : undefined;
    return sum + (typeof url === "string" ? url.length : 0);
  }, 0);
}

/** The bounds of what is read of a conversation. */
export function mostOfConversation(contextTokens: number) {
  return { textCharacters: mostTextCharacters(contextTokens), characters: MOST_CHARACTERS };
}

export function isTooLong(lengths: ConversationLengths, contextTokens: number): boolean {
  const most = mostOfConversation(contextTokens);
  const { textCharacters, imageCharacters: images } = lengths;
  return textCharacters > most.textCharacters || textCharacters + images > most.characters;
}
