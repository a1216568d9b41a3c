"""Words that stand in every text and find nothing: by language, and for Han and Kana by character.

They also tell the language of a text in Latin letters (``stems.language_of``). The lists are of function words alone: a verb or
a noun that is merely frequent may be what a question is about.
"""

from collections.abc import Mapping
from typing import Final


def _words(written: str) -> frozenset[str]:
    """The words of a list that is written with blanks between them."""
    return frozenset(written.split())


ENGLISH: Final = _words("""
    a about above after again against all am an and any are as at be because been before being below between both but by
    can cannot could d did do does doing during each else etc ever few for from further had has have having he her here
    hers herself him himself his how i if in into is it its itself just let ll m may me might more most must my myself
    no nor not now of off oh ok okay on once only or other ought our ours ourselves out own please quite rather re
    really s same shall she should so some such t than that the their theirs them themselves then there these they this
    those though through to too under until up upon us ve very was we were what whatever when where whether which while
    who whoever whom whose why will with within without would yeah yes yet you your yours yourself yourselves""")
RUSSIAN: Final = _words("""
    а без бы был была были было быть в вам вами вас ваш ваша ваше ваши вдруг ведь во вот впрочем все всего всей всем
    всеми всех всю вся всё вы где да даже для до его ее ей ему если есть еще ж же за здесь и из или им ими иногда их к
    как какая какие какой какую когда кого кое ком кому конечно которая которого которое которой котором которому
    которую которые который которым которых кто ли либо лишь между меня мне мной мог может можно мои мой мое моего моей
    моем моему моим моими моих моя мою мы на над надо нам нами нас наш наша наше наши не него нее ней нельзя нем нему
    нет неужели ни нибудь ним ними них но ну о об обо однако он она они оно от ото очень перед по под при про раз разве
    с сам сама само сами свой своя свое свои своего своей своему своих свою себе себя собой со так также такая такие
    такой там те тебе тебя тем теперь то твое твоего твоей твоем твоему твои твоим твоих твой твою твоя тобой тогда того
    тоже той только том тому тот ту тут ты у уж уже хоть хотя чего чей чем через что чтоб чтобы чья чье чуть эта эти
    этим этих это этого этой этом этому этот эту я""")
BY_LANGUAGE: Final[Mapping[str, frozenset[str]]] = {
    "english": ENGLISH,
    "russian": RUSSIAN,
    "french": _words("""
    ai as au aux avec ce cela ces cet cette dans de des du elle elles en est et eu eux il ils je la le les leur leurs
    lui là ma mais me mes moi mon même ne nos notre nous on ont ou où par pas pour qu que quel quelle quels qui sa sans
    se ses si son sont sur ta te tes toi ton tu un une vos votre vous y à été était être c d j l m n s t donc comme plus
    très"""),
    "german": _words("""
    aber als am an auch auf aus bei bin bis bist da damit das dass dein deine dem den der des dich die dir doch du ein
    eine einem einen einer eines er es euch euer für habe haben hat hatte ich ihm ihn ihr ihre im in ist ja jetzt kann
    kein keine man mein meine mich mir mit nach nicht noch nur ob oder ohne schon sehr sein seine sich sie sind so über
    um und uns unser unter vom von vor war waren warum was weil wenn wer wie wieder will wir wird wo zu zum zur"""),
    "spanish": _words("""
    a al algo ante como con cual cuando de del desde donde dónde e el él ella ellas ellos en entre era es esa ese eso
    esta está este esto ha han hasta hay la las le les lo los me mi mis mucho muy más nada ni no nos nosotros o os para
    pero por porque que qué quien quién se ser si sí sin sobre son soy su sus también te tiene tu tus tú un una uno unos
    y ya yo cómo"""),
    "italian": _words("""
    a agli ai al alla alle allo anche c che chi ci come con da dal dalla dei del della delle di dove e ed era gli ha hai
    hanno ho i il in io l la le lei li lo loro lui ma mi mia mio mie miei ne nei nel nella no noi non o per perché più
    quale quando quella quello questa questo se sei si sono su sua sul sulla suo ti tra tu tua tuo un una uno vi voi è"""),
    "portuguese": _words("""
    a ao aos as até com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta está este eu foi
    há isso já la lhe mais mas me mesmo meu minha muito na nas nem no nos não nós o onde os ou para pela pelo por quando
    que quem se sem ser seu sua são só também te tem um uma você vocês à é"""),
    "dutch": _words("""
    aan al als bij dan dat de den der deze die dit doen door dus een en er ge geen haar had heb hebben heeft hem het
    hier hij hoe hun ik in is ja je kan maar me men met mij mijn na naar niet nog nu of om omdat onder ons ook op over
    te tot uit uw van veel voor waar was wat we wel werd wie wij wil worden zal ze zich zij zijn zo zou"""),
    "polish": _words("""
    aby ale bez być był była było by czy co dla do gdy gdzie go i ich im ja jak jako jest jego jej już kiedy kto która
    które który lub ma mam mi mnie mu my na nad nie nim o od on ona one oni po pod przed przez przy się są ta tak tam te
    tego tej ten to tu ty tym w we wy z za ze że"""),
}
"""Snowball's names for the languages."""

CHARACTERS: Final = frozenset(
    "的了是在我你他她它们們这這那哪之也都就还還又再很太更最和跟与與或及而且但被把将將给給让讓对對从從向于於以为為因所吗嗎呢吧啊呀哦嗯哈嘛么麼着著过過得地"
    "个個些什怎谁誰会會要不没沒有可能您咱此其者啦哇喔噢诶欸"
)
"""Han characters that carry grammar; alone, and two together, they are left out."""
