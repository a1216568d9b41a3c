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

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

async function show() {
  const health = await get("/health");
  element("state").textContent = `Version ${health.version} is running. Active pipeline: ${health.active_pipeline ?? "none"}.`;
  const pipelines = await get("/api/pipelines");
  element("pipelines").replaceChildren(
    ...pipelines.data.map((/** @type {any} */ entry) =>
      item(`${entry.name}${entry.active ? " (active)" : ""}${entry.valid ? "" : " (broken)"}`, `/p/${entry.id} · ${entry.description}`)),
  );
  const runs = await get("/api/runs?limit=10");
  element("no-runs").hidden = runs.data.length > 0;
  element("runs").replaceChildren(
    ...runs.data.map((/** @type {any} */ run) => item(`${run.pipeline} · ${run.state}`, run.id)),
  );
}

show().catch((error) => {
  element("state").textContent = `The server cannot be read: ${error.message}`;
});
