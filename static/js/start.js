/**
 * The start page: which pipelines there are, which one answers, and what ran last.
 * Values from the server become text nodes and nothing else.
 */

/**
 * @param {string} path
 * @returns {Promise<any>}
 */
async function get(path) {
  const reply = await fetch(path);
  if (reply.status === 401) throw new Error("it asks for its access token, which this page does not send yet");
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}`);
  return reply.json();
}

/**
 * @param {string} name
 * @param {string} detail
 * @returns {HTMLLIElement}
 */
function item(name, detail) {
  const line = document.createElement("li");
  const title = document.createElement("span");
  title.className = "name";
  title.textContent = name;
  const rest = document.createElement("span");
  rest.className = "quiet";
  rest.textContent = detail;
  line.append(title, rest);
  return line;
}

/** @param {any} entry a line of GET /api/pipelines */
function pipeline(entry) {
  const state = [entry.active ? "active" : "", entry.valid ? "" : `problems: ${entry.problem_count}`].filter(Boolean).join(", ");
  return item(state ? `${entry.name} (${state})` : entry.name, `/p/${entry.id} · ${entry.description}`);
}

/** @param {any} run a line of GET /api/runs */
function run(run) {
  const began = new Date(run.started).toLocaleTimeString();
  const took = run.duration_ms === null ? "" : ` · ${Math.round(run.duration_ms)} ms`;
  return item(`${run.pipeline} · ${run.model ?? "no model"} · ${run.state}`, `${began}${took} · ${run.path} · ${run.id}`);
}

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

async function show() {
  const health = await get("/health");
  element("state").textContent = `Version ${health.version} is running. Active pipeline: ${health.active_pipeline ?? "none"}.`;
  const pipelines = await get("/api/pipelines");
  element("pipelines").replaceChildren(...pipelines.map(pipeline));
  const runs = await get("/api/runs?limit=10");
  element("no-runs").hidden = runs.length > 0;
  element("runs").replaceChildren(...runs.map(run));
}

show().catch((error) => {
  element("state").textContent = `The server cannot be read: ${error.message}.`;
});
