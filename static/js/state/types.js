/**
 * The shapes of the editor's state. This module has no code.
 *
 * @typedef {import('../core/doc.js').Pipeline} Pipeline
 * @typedef {import('../core/doc.js').NodeType} NodeType
 * @typedef {import('../core/doc.js').Problem} Problem
 * @typedef {import('../core/doc.js').RunView} RunView
 * @typedef {import('../core/history.js').History} History
 *
 * @typedef {object} State
 * @property {ServerState} server
 * @property {Record<string, NodeType>} nodeTypes by type
 * @property {{names: string[], paths: string[], filters: Record<string, number>}} contextNames what every template can read, and the
 *   filters with the most arguments of each
 * @property {Library} library
 * @property {Tab[]} tabs open documents, left to right
 * @property {string | null} activeTab the key of the tab in front
 * @property {ViewState} view
 * @property {OpenDialog[]} dialogs the last one is in front
 * @property {Notice[]} notices
 * @property {string} spoken what the live region says
 * @property {RunsState} runs
 * @property {SessionState} session
 *
 * @typedef {object} ServerState
 * @property {string | null} version
 * @property {boolean} online false while the server does not answer
 * @property {{by: 'token' | 'account', reason: string} | null} signIn what the server wants to know who asks, and why it let nobody in, '' where
 *   it only asks; null while it lets this page in
 * @property {Me | null} me who asks; null where everybody is the same one, because nobody signs in
 * @property {boolean} hasAccounts whether there may be others beside the default account
 * @property {boolean} keepsUsage whether it writes calls to models into a ledger
 * @property {string | null} activePipeline
 * @property {string[]} complaints what the server says is wrong with its folders
 * @property {{director: string, verifier: string}} checks the server's own pipelines that check turns, '' for none
 * @property {boolean} started whether the first facts have arrived
 *
 * @typedef {object} Me who asks, as GET /auth/me says
 * @property {string} account_id
 * @property {string} name
 * @property {'admin' | 'user'} role
 * @property {boolean} may_edit whether pipelines and presets may be changed
 * @property {string | null} client_id the program by whose key this page came in; null for a person
 *
 * @typedef {object} Summary a pipeline or preset in a list
 * @property {string} id
 * @property {string} name
 * @property {string} description
 * @property {string} etag
 * @property {boolean} valid
 * @property {boolean} active
 * @property {number} problem_count
 * @property {number} modified milliseconds since 1970
 * @property {'server' | 'account'} owner whose it is; the account's own have a `~` before their ids
 *
 * @typedef {object} Library
 * @property {Summary[]} pipelines
 * @property {Summary[]} presets
 * @property {{name: string, source: string, origins: string[]}[]} secrets names only
 * @property {boolean} loaded
 *
 * @typedef {object} Selection
 * @property {string[]} nodes
 * @property {{from: string, to: string, from_port?: string}[]} edges
 * @property {string[]} frames
 * @property {string[]} notes
 *
 * @typedef {object} Place where to go: a node, a field of it, a line and a column within the field's text
 * @property {string | null} node
 * @property {string | null} [field]
 * @property {number | null} [line]
 * @property {number | null} [column]
 *
 * @typedef {object} Sample the request that previews and tries use
 * @property {'written' | 'saved' | 'captured'} kind
 * @property {string} name
 * @property {string | null} runId the run it was captured from
 * @property {{method: string, path: string, headers: Record<string, string>, body: any}} request
 *
 * @typedef {object} Tab
 * @property {string} key stable while the tab is open
 * @property {string | null} id the file's id; null before the first save
 * @property {string | null} etag of the version that the edits began from
 * @property {Pipeline | null} saved what is on the server as far as we know
 * @property {History} history
 * @property {Selection} selection
 * @property {Place | null} focus where the inspector should put the cursor
 * @property {Problem[]} problems what the server's last check said
 * @property {string[]} hosts where keys would go
 * @property {boolean | null} valid null: not checked as it is now; `problems` are then those of before
 * @property {string | null} lastRun
 * @property {Record<string, any>} pins OUT by node id
 * @property {Sample} sample
 * @property {{etag: string | null} | null} onDisk set when the file changed under the edits; etag null: it was deleted
 * @property {{kind: 'run' | 'version', label: string} | null} readOnly
 * @property {string | null} brokenText the file's text, mended so far, where the canvas cannot show all of it; null otherwise
 * @property {string | null} brokenSaved that text as it is on the server
 * @property {Within | null} within where it was opened as the pipeline that another calls
 * @property {boolean} saving
 *
 * @typedef {object} Within
 * @property {string} tab the key of the tab with the call
 * @property {string} node the node that calls
 * @property {string | null} run the run in which it called
 * @property {string} path what stands before the ids of this pipeline's nodes in that run
 *
 * @typedef {object} ViewState
 * @property {string | null} left the left panel's id
 * @property {string | null} dock the dock's panel id
 * @property {number} leftWidth
 * @property {number} inspectorWidth
 * @property {number} dockHeight
 * @property {boolean} chatMarkdown whether what is said in a chat is drawn as Markdown, or as it was written
 * @property {boolean} chatOwnDirector whether the server's own director is asked in chats that name none
 * @property {boolean} chatOwnVerifier likewise its verifier
 * @property {string} chatFailStrategy what becomes of an answer in a chat that the verifier refuses: warn, block or retry
 * @property {boolean} dockMaximized the dock stands in the place of everything between the tabs and the window's lower edge
 * @property {boolean} inspectorOpen
 * @property {string} inspectorTab
 * @property {'system' | 'dark' | 'light'} theme
 * @property {'normal' | 'more'} contrast
 * @property {string} locale
 * @property {boolean} locked the canvas cannot be changed by accident
 * @property {boolean} minimap
 * @property {boolean} snap
 * @property {boolean} allReferences show the reference edges of all nodes
 * @property {'outline' | 'canvas' | 'inspector' | 'dock'} narrowPage what a narrow screen shows
 * @property {Record<string, string[]>} keys the user's own keys by action id
 * @property {number} words changes when a catalogue has arrived
 *
 * @typedef {object} OpenDialog
 * @property {string} key
 * @property {string} kind
 * @property {Record<string, any>} props
 *
 * @typedef {object} Notice
 * @property {string} key
 * @property {'info' | 'success' | 'warning' | 'error'} tone
 * @property {string} text
 * @property {{label: string, run: () => void} | null} action
 * @property {string | null} topic of what it tells the newest
 *
 * @typedef {object} RunsState
 * @property {any[]} list summaries, newest first
 * @property {Record<string, RunView>} byId
 * @property {string | null} viewed the run that the canvas shows
 * @property {string | null} compared the run it is compared with
 * @property {Record<string, number>} iterations of the viewed run's loops, which one is looked at; the last where none is named
 * @property {boolean} follow show every new run of the pipeline in front
 * @property {'connecting' | 'open' | 'closed'} live
 *
 * @typedef {object} SessionState
 * @property {string | null} session
 * @property {string | null} branch
 * @property {string | null} floor
 * @property {string | null} page
 * @property {{name: string, tier: string, value: any}[] | null} names the stored variables that are visible there
 * @property {Stored} stored the same variables with what the memory knows of them
 *
 * @typedef {object} Stored
 * @property {'idle' | 'loading' | 'ready' | 'failed'} state `loading` and `failed` keep the items of before
 * @property {StoredVariable[]} items
 * @property {string | null} error why they could not be read
 * @property {string | null} floorState of the chosen floor: draft, generating, committed or failed
 *
 * @typedef {object} StoredVariable
 * @property {string} id
 * @property {import('../core/tiers.js').Tier} tier
 * @property {string} scopeId the host, as the variables API names it
 * @property {string} key
 * @property {any} value numbers that JavaScript cannot hold are `JSON.rawJSON` objects
 * @property {number} updated milliseconds since 1970
 */
export {};
