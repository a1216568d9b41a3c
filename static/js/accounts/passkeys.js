/** Passkeys, as the browser's authenticators make and use them (WebAuthn). Bytes travel as base64url. */
import {api, ApiFailure} from '../api/client.js';
import {t} from '../words.js';

/** Whether this browser knows passkeys on this page: over https, or on this computer. */
export function knowsPasskeys() {
  return window.isSecureContext && typeof PublicKeyCredential === 'function';
}

/** Sign in by a passkey; each says itself whose it is. */
export async function signInByPasskey() {
  const {body} = await api.send('POST', '/auth/sign-in/begin', {way: 'passkey'});
  const {options} = body.data;
  const found = await navigator.credentials.get({publicKey: {...options, challenge: bytesOf(options.challenge), allowCredentials: options.allowCredentials.map(asDescriptor)}});
  const credential = /** @type {PublicKeyCredential} */ (found);
  const response = /** @type {AuthenticatorAssertionResponse} */ (credential.response);
  const said = {authenticatorData: textOf(response.authenticatorData), signature: textOf(response.signature), userHandle: response.userHandle && textOf(response.userHandle)};
  await api.send('POST', '/auth/sign-in', {way: 'passkey', credential: asJson(credential, said)});
}

/** Make a passkey for who is signed in. @param {string} name what people call it */
export async function addPasskey(name) {
  const {body} = await api.send('POST', '/auth/passkeys/begin');
  const {options} = body.data;
  const made = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      user: {...options.user, id: bytesOf(options.user.id)},
      excludeCredentials: options.excludeCredentials.map(asDescriptor),
    },
  });
  const credential = /** @type {PublicKeyCredential} */ (made);
  const response = /** @type {AuthenticatorAttestationResponse} */ (credential.response);
  await api.send('POST', '/auth/passkeys', {name, credential: asJson(credential, {attestationObject: textOf(response.attestationObject)})});
}

/**
 * Why a passkey came to nothing. Browsers tell pages little of it, so that no page learns which passkeys there are.
 * @param {unknown} error
 */
export function passkeyReason(error) {
  if (error instanceof ApiFailure) return error.code === 'sign_in_failed' ? t('accounts.passkeyRefused') : error.message;
  if (!(error instanceof DOMException)) return String(error);
  if (error.name === 'InvalidStateError') return t('accounts.passkeyHere');
  return error.name === 'SecurityError' ? t('accounts.passkeyElsewhere') : t('accounts.passkeyNone');
}

/** @param {PublicKeyCredential} credential @param {Record<string, string | null>} response what its kind of answer has beside the rest */
function asJson(credential, response) {
  const {id, rawId, type, authenticatorAttachment} = credential;
  const data = textOf(credential.response.clientDataJSON);
  return {id, rawId: textOf(rawId), type, authenticatorAttachment, response: {clientDataJSON: data, ...response}, clientExtensionResults: {}};
}

/** @param {{id: string, type: 'public-key', transports?: any}} known */
function asDescriptor(known) {
  return {...known, id: bytesOf(known.id)};
}

/** @param {ArrayBuffer} buffer */
function textOf(buffer) {
  const text = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** @param {string} text */
function bytesOf(text) {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
}
