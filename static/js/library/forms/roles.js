/** Who says a part of a prompt: by name in prompt presets and cards, by number in lorebooks and users. */
export const ROLES = /** @type {const} */ (['system', 'user', 'assistant']);
