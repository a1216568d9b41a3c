/** A whole request body for each provider, to begin a template with (docs/templates.md has the same). */

/** @type {Record<string, string>} */
export const EXAMPLES = Object.freeze({
  openai: `{
  "model": "{{ model }}",
  [[PROMPT]],
  "temperature": {{ incoming.json.temperature|default(params.temperature|default(0.7)) }},
  "top_p": {{ incoming.json.top_p|default(params.top_p|default(1)) }},
  "max_tokens": {{ incoming.json.max_tokens|default(params.max_tokens|default(256)) }},
  "stop": {{ incoming.json.stop|default(params.stop|default([])) }}
}`,
  claude: `{
  "model": "{{ model }}",
  [[PROMPT]],
  "max_tokens": {{ params.max_tokens|default(1024) }},
  "temperature": {{ incoming.json.temperature|default(params.temperature) }}
}`,
  gemini: `{
  [[PROMPT]],
  "safetySettings": {{ incoming.json.safetySettings|default([]) }},
  "generationConfig": {
    "temperature": {{ incoming.json.generationConfig.temperature|default(params.temperature) }},
    "maxOutputTokens": {{ incoming.json.generationConfig.maxOutputTokens|default(params.max_tokens|default(256)) }}
  }
}`,
  openai_responses: `{
  "model": "{{ model }}",
  [[PROMPT]],
  "max_output_tokens": {{ params.max_tokens|default(1024) }},
  "store": false
}`,
});
