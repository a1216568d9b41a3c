/* What is loaded into SillyTavern's page to play a case: ``window.oracle``. */
const script = await import("/script.js");
const lore = await import("/scripts/world-info.js");
const openai = await import("/scripts/openai.js");
const { power_user } = await import("/scripts/power-user.js");
const { extension_settings } = await import("/scripts/extensions.js");
const { accountStorage } = await import("/scripts/util/AccountStorage.js");
const { getStringHash } = await import("/scripts/utils.js");
const { processChatSlashCommands } = await import("/scripts/slash-commands.js");
const { eventSource, event_types: events } = script;

// Counting tokens of what is on the screen makes prompts that nobody sends.
openai.promptManager.tryGenerate = async () => {};

// A proxy is asked about before its first use.
accountStorage.setItem(`Proxy_SkipConfirm_${getStringHash(openai.oai_settings.custom_url)}`, "true");

const native = Math.random;
let state = 0;
let draws = [];

/** A number of 0 to 1 by a small generator (mulberry32), and remembered; what else draws has the browser's. */
Math.random = () => {
  if (!new Error().stack.includes("world-info.js")) return native();
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  const drawn = ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  draws.push(drawn);
  return drawn;
};

/** The character's file, through the route that imports files. */
async function importCharacter(given) {
  const card = { spec: "chara_card_v2", spec_version: "2.0", data: structuredClone(given.character) };
  card.data.extensions = { ...card.data.extensions, regex_scripts: given.scripts.character };
  const bound = given.lore.find((one) => one.bound === "character");
  if (bound) card.data.extensions.world = bound.name;
  const form = new FormData();
  form.append("avatar", new File([JSON.stringify(card)], "card.json", { type: "application/json" }));
  form.append("file_type", "json");
  const headers = script.getRequestHeaders({ omitContentType: true });
  const answer = await fetch("/api/characters/import", { method: "POST", headers, body: form });
  const avatar = `${(await answer.json()).file_name}.png`;
  extension_settings.character_allowed_regex = [avatar];
  await script.getCharacters();
  await script.selectCharacterById(script.characters.findIndex((one) => one.avatar === avatar));
}

/** The preset's file, through the input that takes files. */
async function importPreset(given, name) {
  const preset = structuredClone(given.preset);
  preset.extensions = { ...preset.extensions, regex_scripts: given.scripts.preset };
  extension_settings.preset_allowed_regex = { openai: [name] };
  const input = document.querySelector("#openai_preset_import_file");
  const files = new DataTransfer();
  files.items.add(new File([JSON.stringify(preset)], `${name}.json`, { type: "application/json" }));
  const applied = new Promise((done) => eventSource.once(events.OAI_PRESET_CHANGED_AFTER, done));
  input.files = files.files;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  await applied;
}

/** The books, each where it is bound to. */
async function bindBooks(given) {
  const names = (bound) => given.lore.filter((one) => one.bound === bound).map((one) => one.name);
  lore.updateWorldInfoSettings({ ...given.lore_settings }, names("global"));
  script.chat_metadata[lore.METADATA_KEY] = names("chat")[0];
  power_user.persona_description_lorebook = names("persona")[0] ?? "";
}

/** The author's note, in the chat's own settings. */
function annotate({ note }) {
  for (const [name, value] of Object.entries(note)) script.chat_metadata[`note_${name}`] = value;
  document.querySelector("#extension_floating_prompt").value = note.prompt ?? "";
}

/** What else the chat says of itself, as it is when a chat is opened that has it. */
function describe({ metadata }) {
  for (const name of ["scenario", "mes_example", "system_prompt"]) delete script.chat_metadata[name];
  script.chat_metadata.script_injects = {};
  Object.assign(script.chat_metadata, structuredClone(metadata ?? {}));
  processChatSlashCommands();
}

/** The messages of the history, as SillyTavern keeps them. */
function tell(given) {
  script.chat.length = 0;
  for (const one of given.history) {
    const name = one.name ?? (one.role === "user" ? given.persona.name : given.character.name);
    const [is_user, is_system] = [one.role === "user", one.hidden === true];
    script.chat.push({ name, is_user, is_system, mes: one.text, send_date: "2026-01-01T00:00:00.000Z", extra: {} });
  }
}

window.oracle = {
  /** Load all files of a case. */
  async load(given) {
    await lore.updateWorldInfoList();
    for (const one of given.lore) await lore.saveWorldInfo(one.name, structuredClone(one.book), true);
    await lore.updateWorldInfoList();
    await importCharacter(given);
    await importPreset(given, given.name);
    script.setUserName(given.persona.name, { toastPersonaNameChange: false });
    power_user.persona_description = given.persona.description;
    power_user.persona_description_position = given.persona.position;
    power_user.persona_description_depth = given.persona.depth;
    power_user.persona_description_role = given.persona.role;
    extension_settings.regex = structuredClone(given.scripts.global);
    openai.oai_settings.chat_completion_source = given.source;
    openai.oai_settings.reverse_proxy = given.source === "custom" ? "" : openai.oai_settings.custom_url;
    openai.oai_settings.proxy_password = "any";
    await bindBooks(given);
    annotate(given);
    describe(given);
    tell(given);
    await script.printMessages();
  },
  /** Play a turn; what was drawn for it is what comes back. */
  async turn(turn, seed) {
    [state, draws] = [seed, []];
    document.querySelector("#send_textarea").value = turn.message ?? "";
    await script.Generate(turn.type, { quiet_prompt: turn.quiet });
    return draws;
  },
};
