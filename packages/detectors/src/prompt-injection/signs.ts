/**
 * Signs of a text that gives orders to an agent: turns of phrase in the languages that models are spoken to in, and
 * forms that belong to a conversation and not into data. Each sign alone may be innocent; the weights that
 * training gives them decide. Expressions are matched in small letters and are linear: every repetition is bounded.
 */

export interface Sign {
  readonly name: string;
  readonly pattern: RegExp;
}

const sign = (name: string, ...patterns: readonly RegExp[]): Sign => ({
  name,
  pattern: new RegExp(patterns.map(({ source }) => `(?:${source})`).join('|'), 'gmu'),
});

/** Answers: words like `unrestricted` describe luggage, beer and access, too. */
const SPEAKER =
  '(?:a\\.?i\\.?|ais|assistants?|models?|chatbots?|bots?|llms?|\\w{0,8}gpt[\\w.-]*|claude|gemini|personas?|prompts?|answer|answering|respond\\w*|reply|replies|role-?play\\w*|pretend\\w*|act as|\\w{1,20} mode|yourself)';
const UNBOUND =
  '(?:dan|jailbroken|unrestricted|unfiltered|uncensored|no (?:restrictions|limits|rules|filters|ethics|morals)|without (?:any )?(?:restrictions|limits|filters|censorship|rules)|(?:stays?|remains?) in character|(?:never|cannot|must not) refuses?|answers (?:anything|everything))';

/** At most 30: a set of them is a number. */
export const SIGNS: readonly Sign[] = [
  sign(
    'override',
    /\b(?:ignore|disregard|forget|discard|override|bypass|drop|set aside|do not follow|don't follow|stop following|pay no attention to)\b[^.!?\n]{0,40}\b(?:previous|prior|above|earlier|preceding|original|existing|other|all|any|your|former|initial|these|those|everything|system)\b[^.!?\n]{0,40}\b(?:instructions?|prompts?|directions?|directives?|rules?|guidelines?|commands?|orders?|constraints?|context|tasks?|requests?|policies|restrictions?|safeguards?|above|before|said|told)\b/,
    /\bset\b[^.!?\n]{0,30}\b(?:instructions?|rules?|tasks?|guidelines?|prompt|working on|doing)\b[^.!?\n]{0,12}\baside\b|\bset aside (?:what|whatever) you\b|\b(?:act|behave|proceed|continue|answer|go on) as (?:if|though) (?:the|all|everything) (?:\w+ )?(?:previous|prior|earlier|above|conversation|instructions?)\b|\b(?:previous|prior|above|earlier|preceding|your)\b[^.!?\n]{0,24}\b(?:content|instructions?|rules?|guidelines?|task|prompt|directives?)\b[^.!?\n]{0,16}\b(?:is|are|was|were|has been|have been)\b (?:now )?(?:irrelevant|void|cancell?ed|invalid|revoked|lifted|obsolete|suspended|superseded|replaced|updated by)\b|\binstead of (?:translat|summari[sz]|answer|respond|reply|analy[sz]|review|classify)ing\b[^.!?\n]{0,40}\b(?:say|write|output|print|reply|respond|tell|return|send|call)\b|\b(?:do not|don't|never|stop) (?:follow|obey|answer|fulfil+|execute|perform|help|serv|comply with)(?:ing)?\b[^.!?\n]{0,16}\b(?:the )?user's?\b/,
    /\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|beachte nicht|verwirf)\b[^.!?\n]{0,60}\b(?:anweisung\w*|instruktion\w*|befehl\w*|regel\w*|vorgaben?|auftr[aä]g\w*|alles)\b/,
    /\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|ne (?:tiens|tenez) pas compte|abandonne[zr]?)\b[^.!?\n]{0,60}\b(?:instructions?|consignes?|directives?|règles?|ordres?|tâches?|tout ce qui précède)\b/,
    /\b(?:ignora\w*|ignore|olvida\w*|omite|descarta|desestima|haz caso omiso|no sigas)\b[^.!?\n]{0,60}(?:instrucci[oó]n\w*|indicaciones|[oó]rdenes|reglas|tareas?|todo lo anterior)/,
    /\b(?:ignora\w*|dimentica\w*|tralascia|non seguire|scarta)\b[^.!?\n]{0,60}\b(?:istruzion\w*|indicazion\w*|regole|ordini|comandi|compiti)\b/,
    /\b(?:ignor[ea]\w*|esqueç\w*|desconsider\w*|descarte)\b[^.!?\n]{0,60}\b(?:instruç\w*|orientações|regras|ordens|comandos|tarefas?)\b/,
    /\b(?:negeer|vergeet|sla)\b[^.!?\n]{0,60}\b(?:instructies?|opdracht\w*|aanwijzing\w*|regels|bevelen)\b/,
    /(?:zignoruj|pomiń|zapomnij|nie zwracaj uwagi)[^.!?\n]{0,60}(?:instrukcj\w*|polece\w*|wytyczn\w*|zasad\w*|zada\w*)/,
    /(?:игнорируй|игнорируйте|проигнорируй|забудь|забудьте|не обращай внимания|отбрось)[^.!?\n]{0,60}(?:инструкци|указани|команд|правил|распоряжени|задани|вс[её])/,
    /(?:talimat|yönerge|komut|kural|görev)[^.!?\n]{0,50}(?:yoksay|görmezden gel|unut|dikkate alma|göz ardı et)/,
    /(?:忽略|无视|無視|忘记|忘掉|不要理会|撇开)[^。！？\n]{0,30}(?:指令|指示|说明|规则|要求|提示|命令|内容|任务)/,
    /(?:指示|命令|指令|ルール|プロンプト|制約)[^。！？\n]{0,20}(?:無視|忘れ|破棄|従わない)/,
    /(?:지시|명령|지침|규칙|프롬프트)[^.!?\n]{0,20}(?:무시|잊어|따르지)/,
    /(?:تجاهل|انس|أهمل|لا تتبع)[^.!?؟\n]{0,50}(?:تعليمات|التعليمات|أوامر|الأوامر|القواعد|التوجيهات)/,
    /(?:निर्देश|आदेश|नियम)[^।.!?\n]{0,50}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)/,
    /\b(?:jangan hiraukan|abaikan|lupakan)\b[^.!?\n]{0,50}\b(?:instruksi|perintah|aturan)\b/,
  ),
  sign(
    'override-any',
    /\b(?:ignore|disregard|forget|discard)\b (?:about |all |any |my |your |the |of |these |those |everything |whatever |anything |what ){0,3}(?:previous|prior|earlier|above|preceding|that came before|came before|before this|i (?:said|told|asked|wrote)|you (?:were|have been|know|read|got))\b/,
  ),
  sign(
    'addressed',
    /\b(?:ai|a\.i\.|llm|language) (?:assistant|agent|model|system|bot|reader|summari[sz]er|tool)s?\b|\b(?:hey|dear|hello|attention|note to|message (?:to|for)|instructions? (?:to|for)|for the attention of|to(?: you)?,?)(?: any| the| all| you,?)? (?:ai|llms?|assistants?|agents?|models?|bots?|chatbots?|gpt[\w.-]*|chatgpt|claude|gemini|copilot|llama|mistral|assistant model|language models?)\b/,
    /\b(?:attn|attention|p\.? ?s\.?|note|notice|message|hint|information|reminder|addendum)\b[^.!?\n]{0,12}\b(?:to|for|any|all)\b[^.!?\n]{0,24}\b(?:ai|llms?|agents?|models?|bots?|chatbots?|summari[sz]ers?|crawlers?|parsers?|automated \w+|machine readers?)\b|\bautomated (?:readers?|agents?|assistants?|reviewers?|screeners?|summari[sz]ers?|processing systems?)\b|\b(?:whoever|whatever|anyone who|anything that|every \w+ (?:that|which)|any \w+ (?:that|which)) (?:automatically )?(?:summari[sz]es|processes|parses|indexes|translates|ingests)\b|^(?:ai|llm|model|bot|agent)\s?[,:] |[,;] (?:ai|model|assistant|agent|bot)\s?[:,] /,
    /\b(?:if|since|because|when|whenever) you(?:'re| are)? (?:an? )?(?:ai|llm|language model|automated|assistant|agent|bot|chatbot|large language model|machine)\b|\b(?:chatgpt|gpt-?\d[\w.-]*|claude|gemini|copilot|llama)\s?[,:]/,
    /\b(?:ki-assistent\w*|sprachmodell\w*|ki-agent\w*|assistant ia|agent ia|modèle de langage|asistente de ia|modelo de lenguaje|agente de ia|assistente (?:di )?ia|modello linguistico|assistente de ia|modelo de linguagem|ai-assistent|taalmodel|asystenci\w* ai|model\w* językow\w*|yapay zeka asistan\w*|dil modeli)\b/,
    /ии-ассистент|языков\S{1,3} модел|искусственн\S{1,4} интеллект|人工智能助手|ai助手|语言模型|大模型|aiアシスタント|言語モデル|aiエージェント|인공지능 비서|ai 비서|언어 모델|المساعد الذكي|نموذج اللغة|مساعد الذكاء|एआई सहायक|भाषा मॉडल/,
  ),
  sign(
    'system',
    /^[\s>#*"'([{<|-]{0,8}(?:system|developer|admin(?:istrator)?|root|operator|sysadmin)(?:[ _-](?:prompt|message|note|notice|override|update|instructions?|alert|directive|command|admin))?[\])}>"'*]{0,4}\s{0,2}[:=\])>]/,
    /\b(?:new|next|updated|revised|real|actual|hidden|secret|additional|special|priority|following) (?:system )?(?:instructions?|prompt|directives?|orders?)\b\s{0,2}(?:[:.]|are|is|from|follow|for you)|\bsystem[ _-](?:override|prompt|directive|instruction)s?\b|\bend of (?:system )?(?:prompt|instructions?|context|document|user input)\b|\b(?:override|maintenance|debug|developer|admin|god|sudo) mode\b/,
    /系统提示|系统消息|新指令|システムプロンプト|システム指示|시스템 프롬프트|системн\S{2,3} (?:промпт|сообщени|инструкци)|новые инструкции|تعليمات النظام|सिस्टम निर्देश|systemanweisung|systemnachricht|neue anweisung\w*|instruction système|nouvelles? (?:instructions?|consignes?)|nuevas? instrucci\w*|mensaje del sistema|nuove istruzioni|messaggio di sistema|novas? instruç\w*|mensagem do sistema|nieuwe instructies?|nowe instrukcje|komunikat systemowy|yeni talimat\w*|sistem mesajı/,
  ),
  sign(
    'template',
    /<\|(?:im_start|im_end|system|user|assistant|endoftext|end|eot_id|start_header_id|end_header_id|begin_of_text|tool|endofprompt)[|_\w]{0,20}>|\[\/?inst\]|<<\/?sys>>|<\/?(?:start|end)_of_turn>|<\/?s>\s{0,2}\[|^#{2,4} {0,2}(?:instructions?|system|response|input|human|assistant|user)\s{0,2}:|^(?:human|assistant|user|ai)\s{0,2}: |\[(?:system|assistant|user|developer)\]\s?\(#|<\/?(?:system|assistant|developer|user)(?:_(?:prompt|message|instructions?|query|input))?>|["']?role["']?\s?:\s?["'](?:system|assistant|developer)["']/,
  ),
  sign(
    'tool-result',
    /<\/(?:response|answer|output|result|results|summary|article|page|email|message)>|<\/?(?:tool_(?:result|response|call|output|use)s?|function_(?:results?|calls?|response)|function|observation|search_results?|documents?|context|data|untrusted|external[\w-]{0,20})>|\b(?:tool|function|api) (?:call |execution )?(?:result|output|response|status)s?\b\s?[:=(]|^(?:observation|action(?: input)?|thought|final answer|tool)\s?:|\bend of (?:(?:tool|function|search|file|e-?mail|page|web ?page) )?(?:output|results?|response|content)s?\b/,
    /\bthe user (?:has )?(?:already )?(?:approved|confirmed|consented|agreed|granted|authori[sz]ed|allowed|permitted)\b|\b(?:permission|consent|approval|authori[sz]ation)(?: has been| was| is)? (?:granted|given|approved|confirmed)\b|\b(?:hub|monitor|policy|cordon|gateway|orchestrator|planner)\s?: |\b(?:no|skip|without) (?:further )?(?:confirmation|approval|permission) (?:is )?(?:needed|required|necessary)\b/,
  ),
  sign(
    'first-do',
    /\b(?:before|prior to|instead of|rather than) (?:you )?(?:can |may |could |are able to )?(?:answer|answering|respond|responding|reply|replying|continu\w+|proceed\w*|complet\w+|solv\w+|finish\w*|summari[sz]\w+|doing anything|do anything|you do|processing|process|starting|helping|executing|perform\w*|return\w*)\b|\b(?:do|perform|execute|carry out|complete|follow) (?:the |these |this )?(?:following|steps?|tasks?|actions?|below)\b[^.!?\n]{0,20}\b(?:first|now|immediately|before|instead|exactly|too|as well)\b|\b(?:first|then|next|also|now|afterwards),? (?:you )?(?:must|need to|have to|should|are (?:required|asked|instructed) to)\b|\bafter (?:you (?:do|have done|did|finish|complete)|doing|completing|finishing|that is done) (?:that|this|these|so|it)?\b|\bas (?:the |your )?(?:first|next|final|last|additional) (?:step|task|action)\b|\b(?:once|when) (?:you (?:have )?(?:done|finished|completed)|done|finished|complete)\b/,
    /\b(?:bevor|ehe) (?:du|sie) (?:antworte\w*|fortf\w+|weiter\w*|zusammenfass\w*)|\bavant de (?:répondre|continuer|poursuivre|résumer)|\bantes de (?:responder|contestar|continuar|resumir|seguir|prosseguir)|\bprima di (?:rispondere|continuare|proseguire|riassumere)|\bvoordat (?:je|u) (?:antwoordt|verder\w*)|\bzanim (?:odpowiesz|będziesz kontynuować)|прежде чем (?:ответить|продолжить|отвечать)|yanıt(?:la)?ma(?:dan|yı)? önce|在(?:回答|继续|回复|总结)[^。\n]{0,6}之?前|(?:回答|返信|要約|続行)する前に|(?:답변|대답|요약|계속)하기 전에|قبل (?:أن تجيب|الإجابة|الرد|المتابعة)|(?:उत्तर|जवाब) देने से पहले/,
  ),
  sign(
    'task',
    /\b(?:your|the) (?:new|real|actual|true|main|only|primary|current|next|updated) (?:task|goal|objective|job|mission|purpose|role|priority|instructions?)\b|\b(?:task|request|question|query|instructions?|assignment) (?:that |which )?(?:i|the user|they|he|she|was|were|you) (?:gave|given|asked|assigned|have|had|sent|requested)\b|\bthe (?:original|initial|current|user's|users'?|user) (?:task|request|query|instructions?|prompt|question|goal|command)\b|\bthe user(?:s|'s)? (?:also |now |really |actually |has |have )?(?:wants?|asks?|asked|requested|needs?|would like|instructed|intends?|prefers?)(?: (?:you|the assistant|for|that|to))?\b|\bon behalf of the user\b|\byou(?:'ve| have) been (?:asked|instructed|assigned|authori[sz]ed|reassigned|given)\b|\b(?:the|your) task (?:has|is|was) (?:now )?(?:changed|different|cancell?ed|over|replaced|updated)\b|\byour (?:only|sole) (?:duty|task|job|goal|purpose|concern)\b|\b(?:solve|complete|fulfil+|finish|continue(?: with)?) (?:the|your|my|this) (?:task|request|assignment|original)\b|\bin order to (?:complete|finish|solve|fulfil+|answer|process) (?:the|this|your)\b/,
    /\b(?:deine|ihre) (?:neue|eigentliche|wahre) aufgabe|der (?:nutzer|benutzer) (?:möchte|will|hat)|ta nouvelle tâche|votre nouvelle tâche|l'utilisateur (?:veut|souhaite|demande|a demandé)|tu nueva tarea|el usuario (?:quiere|ha pedido|pide|solicita|también)|il tuo nuovo compito|l'utente (?:vuole|ha chiesto)|sua nova tarefa|o usuário (?:quer|pediu|solicitou)|je nieuwe taak|de gebruiker wil|twoje nowe zadanie|użytkownik (?:chce|prosi)|твоя новая задача|пользователь (?:хочет|просит|попросил)|yeni görevin|kullanıcı (?:istiyor|istedi)|你的新任务|用户(?:想|要求|希望)|新しい(?:タスク|任務)|ユーザーは|새로운 (?:작업|임무)|사용자(?:는|가) |مهمتك الجديدة|المستخدم (?:يريد|طلب)|आपका नया कार्य|उपयोगकर्ता (?:चाहता|ने)/,
  ),
  sign(
    'act-outward',
    // Not "my e-mail is", "the report at": a noun orders nothing.
    /(?<!\b(?:my|your|his|her|our|their|its|the|an?|this|that|by|via|per|of|in|new)\s)(?<![\w-])(?:send|forward|e-?mail|mail|transfer|wire|pay|post|upload|share|submit|deliver|report|publish|leak|transmit|exfiltrate|copy|bcc|cc|invite|donate|purchase|buy|order|grant|book|reserve|schedule)\b[^.!?\n]{0,120}(?:\bto\b|\bat\b|\bwith\b|\bvia\b|@|https?:|\bfrom\b)/,
    /\b(?:sende\w*|schick\w*|leite\b[^.\n]{0,60}weiter|überweis\w*|lade\b[^.\n]{0,40}hoch|teile)\b|\b(?:envoie\w*|envoyez|transfère\w*|transférez|transmets|partage\w*|publie\w*)\b|\b(?:env[ií]a\w*|reenv[ií]a\w*|transfiere|publica|comparte|manda)\b|\b(?:invia\w*|inoltra\w*|trasferisci|condividi|pubblica)\b|\b(?:envie\w*|encaminhe|transfira|compartilhe|publique)\b|\b(?:stuur|verstuur|deel|maak over)\b|(?:wyślij|prześlij|przelej|udostępnij|opublikuj)|(?:отправь|отправьте|перешли|перешлите|переведи|переведите|опубликуй|загрузи)|(?:gönder|ilet|aktar|paylaş|yükle)|(?:发送|发给|转发|转账|上传|分享|發送)|(?:送信|転送|送って|送金|共有|アップロード)|(?:보내|전송|전달|송금|공유|업로드)|(?:أرسل|حوّل|حول|شارك|انشر|ارفع)|(?:भेजें|भेजो|भेज दें|साझा करें|अग्रेषित|ट्रांसफर)/,
  ),
  sign(
    'act-inward',
    /\b(?:delete|remove|erase|wipe|disable|deactivate|turn off|unlock|change|reset|update|modify|replace|execute|run|call|invoke|download|install|open|visit|click|navigate|browse|fetch|retrieve|look up|search|read|access|reveal|disclose|print|output|show|append|include|insert|embed|encode|create|add|cancel)\b[^.!?\n]{0,80}/,
  ),
  sign(
    'data',
    /\b(?:contents? of|all (?:of )?(?:the |your |their |his |her |my )?(?:e-?mails?|messages?|files?|data|contacts?|conversations?|history|documents?|records?|events?|information|passwords?|keys|secrets|credentials|chats?|channels?)|api[ _-]?keys?|access[ _-]tokens?|credentials?|passwords?|private keys?|ssh keys?|environment variables?|\.env\b|credit card|bank (?:account|details)|account (?:number|details|balance)|security code|verification code|2fa|one-time|session (?:cookie|token)|(?:chat|conversation) history|personal (?:data|information|details)|(?:inbox|calendar|address book)|confidential)\b|パスワード|密码|비밀번호|пароль|كلمة المرور|पासवर्ड|passwort|mot de passe|contraseña|senha\b|wachtwoord|hasło|şifre/,
  ),
  sign(
    'secrecy',
    /\b(?:do not|don't|never|must not|without|avoid|no need to|refrain from)\b[^.!?\n]{0,24}\b(?:tell\w*|mention\w*|inform\w*|reveal\w*|notify\w*|alert\w*|ask\w*|disclos\w*|show\w*|report\w*|explain\w*|warn\w*|confirm\w*|say\w*|let)\b[^.!?\n]{0,30}\b(?:users?|anyone|anybody|this|these|them|him|her|it|about|confirmation|permission|human|owner|instructions?|message)\b|\b(?:silently|secretly|quietly|covertly|discreetly|in the background|keep (?:this|it) (?:secret|hidden|confidential|between us)|hide this|act (?:normal|as if nothing)|as if nothing happened|(?:the )?user (?:must|should|does|need)(?: not|n't) (?:know|see|be told|notice))\b/,
    /\b(?:sag\w*|erwähn\w*|verrate?)\b[^.\n]{0,30}\bnicht\b|\bohne (?:zu fragen|rückfrage|es zu erwähnen)|\bsans (?:demander|prévenir|le mentionner|en parler)|\bne (?:dis|dites|mentionne\w*|préviens) (?:rien|pas)|\bsin (?:preguntar|avisar|mencionar\w*|decir)|\bno (?:menciones|digas|avises)|\bsenza (?:chiedere|dire|avvisare|menzionare)|\bsem (?:perguntar|avisar|mencionar|contar)|\bnão (?:mencione|conte|avise)|\bzonder te (?:vragen|melden)|\bbez (?:pytania|informowania)|не (?:говори|сообщай|упоминай|спрашивай)|без (?:подтверждения|ведома)|söyleme|sormadan|haber vermeden|不要(?:告诉|提及|询问|提到|通知)|(?:伝え|言わ|知らせ|尋ね)(?:ない|ず)|(?:알리지|말하지|언급하지|묻지)|(?:لا تخبر|دون (?:إخبار|سؤال|علم)|لا تذكر)|(?:मत बताना|न बताएं|बिना पूछे|बताए बिना)/,
  ),
  sign(
    'urgent',
    /\b(?:important|urgent|urgently|immediately|critical|crucial|mandatory|required|asap|at once|right away|right now|high(?:est)? priority|without delay|must|emergency|compulsory|imperative|failure to (?:do so|comply)|otherwise|or else)\b|!!|\bwichtig\b|dringend|sofort|\burgent\w*|immédiatement|importante|inmediatamente|immediatamente|imediatamente|belangrijk|onmiddellijk|pilne|natychmiast|срочно|важно|немедленно|acil|hemen|önemli|紧急|立即|重要|緊急|至急|긴급|즉시|عاجل|فورا|तुरंत|महत्वपूर्ण/,
  ),
  sign(
    'authority',
    /\b(?:administrator|admin|security team|it department|management|the developers?|your (?:developers?|creators?|owner|operator|admin\w*|user|supervisor|boss|principal)|openai|anthropic|google|microsoft|compliance|company policy|security policy|official|authori[sz]ed|superuser|head office|ceo|by order of|legal department)\b/,
  ),
  sign(
    'from-user',
    /\b(?:this is|i am|it's|message from|note from|instructions? from|on behalf of|a word from|sincerely,?)\b[^.!?\n]{0,20}\b(?:me,|me\b|your (?:user|owner|developer|creator|admin\w*|boss|master|operator|principal)|the (?:user|owner|developer|real user|account holder|administrator))\b|\b(?:message|note|information|instructions?|notice|memo|request|announcement)\b[^.!?\n]{0,60}\b(?:to|for) (?:you\b|the (?:assistant|agent|model|ai)\b)/,
  ),
  sign(
    'persona',
    /\b(?:you are now|from now on|pretend (?:to be|you|that)|act as (?:if|an?|the)|roleplay|role-play|imagine you|simulate|you will (?:be|act|play)|switch to|enter)\b[^.!?\n]{0,60}|\b(?:dan|do anything now|jailbreak\w*|unrestricted|unfiltered|no (?:restrictions|limits|rules|filters|ethical)|without (?:any )?(?:restrictions|limits|filters|censorship)|evil (?:ai|twin)|opposite mode|uncensored)\b/,
    /\b(?:du bist (?:jetzt|nun|ab sofort)|ab jetzt bist du|tu es (?:maintenant|désormais)|vous êtes (?:maintenant|désormais)|ahora eres|a partir de ahora|ora sei|d'ora in poi|agora você é|a partir de agora|je bent nu|vanaf nu|jesteś teraz|od teraz|artık sen|bundan sonra)\b|теперь ты|с этого момента|отныне|你现在是|从现在开始|从现在起|あなたは今|これから(?:あなた|は)|이제 (?:너|당신)|지금부터|أنت الآن|من الآن فصاعدا|अब आप|अब से/,
  ),
  sign(
    'jailbreak',
    /\b(?:do anything now|jailbroken (?:ai|assistant|bot|chatbot|mode|model|version)|(?:no|without(?: any)?) (?:ethics|ethical guidelines|morals)|free (?:of|from) (?:all|any) (?:rules|restrictions|filters|censorship)|(?:filters?|guardrails?|safeguards?|safety (?:rules?|guidelines?|filters?)|content (?:policy|policies|filters?|restrictions?)|restrictions?|policy|policies) (?:do(?:es)? not|don't|doesn't|no longer|are not|is not) (?:apply|active|enabled|in force)|(?:disable|turn off|switch off|lift|drop|bypass) (?:all |your |the |any )?(?:safety|content|ethical)? ?(?:filters?|guardrails?|safeguards?|restrictions?))\b/,
    new RegExp(
      `\\b${SPEAKER}\\b[^.!?\\n]{0,60}\\b${UNBOUND}\\b|\\b${UNBOUND}\\b[^.!?\\n]{0,60}\\b${SPEAKER}\\b`,
    ),
  ),
  sign(
    'leak',
    /\b(?:repeat|print|reveal|output|show|tell me|display|disclose|recite|share|dump|copy|translate|summari[sz]e|give me|write (?:out|down)|what (?:is|are|was|were))\b[^.!?\n]{0,40}\b(?:system prompt|initial prompt|(?:your|the|these|all|previous|initial|original|hidden|secret|system) (?:\w+ )?(?:instructions|prompt|rules|guidelines|directives)|everything above|words above|text above|(?:content|lines?|messages?) above)\b|\bwhat (?:is|are|was|were|do|did)\b[^.!?\n]{0,12}\byour (?:\w+ )?(?:instructions|prompt|guidelines|rules|directives)\b|\byour (?:initial|original|hidden|secret|system|full|exact|very first|developer) (?:\w+ )?(?:instructions?|prompt|message|directives?)\b|\bstarting with (?:the (?:words?|phrase) )?["'“‘]?you are\b|\b(?:dein\w{0,2}|ihr\w{0,2}) (?:system-?prompt|systemanweisung\w*)\b|\btes instructions (?:initiales|système)\b|\btus instrucciones (?:iniciales|del sistema)\b/,
  ),
  sign(
    'steer',
    /\b(?:respond|reply|answer|say|write|output|end|begin|start|conclude|finish)\b[^.!?\n]{0,24}\b(?:only with|with (?:the|only|exactly|just|"|')|exactly|by saying|that (?:it|this|the)|nothing else|nothing but|the (?:phrase|words?|sentence|text))\b|\byour (?:answer|response|reply|output|summary|report|recommendation|rating|review|next message) (?:must|should|needs? to|will|has to)\b|\b(?:when|whenever|if|while) (?:you(?:'re| are)? )?(?:summari[sz]\w*|answer\w*|respond\w*|reply\w*|asked|process\w*|read\w*|review\w*|evaluat\w*|rank\w*|translat\w*|generat\w*|rat\w*|pars\w*|index\w*|search\w*)\b[^.!?\n]{0,60}[,:]|\b(?:recommend|rate|rank|give) (?:this|our|the)[^.!?\n]{0,40}\b(?:first|highest|best|top|positive|over|five stars?|10\/10|full marks)\b|\b(?:tell|inform|convince|persuade|instruct|advise|urge|remind|direct) (?:the |your )?(?:user|users|human|customer|reader|person)s?\b/,
  ),
  sign(
    'tool-name',
    /\b[a-z]{2,20}(?:_[a-z]{2,20}){1,4}\b ?\(?|\b(?:use|using|call|invoke|with|via|run|trigger) (?:the |your |its )?[\w`'"-]{2,40} (?:tool|function|api|command|plugin|app|action|skill|connector)s?\b/,
  ),
  sign(
    'pseudo-tag',
    /<\/?[a-z][a-z_-]{3,24}(?: [^<>\n]{0,40})?>\s{0,3}\n|^\s{0,4}(?:[-=*#~_]{4,}|\[{1,3}[^\]\n]{3,40}\]{1,3}|(?:-{2,}|={2,}|\*{2,}|#{2,}) ?[^\n]{2,50} ?(?:-{2,}|={2,}|\*{2,}|#{2,}))\s{0,3}$|\{\{[^{}\n]{2,60}\}\}|<[a-z_]{0,20}(?:important|information|instruction|system|note|attention|secret|priority|alert|urgent|admin|override)[a-z_]{0,20}>/,
  ),
  sign(
    'link-out',
    /!\[[^\]\n]{0,80}\]\(https?:|https?:\/\/[^\s"'<>)]{1,200}[?&=/](?:\{|\[|<|%7b|\$\{)|\b(?:append|add|include|encode|put|insert|attach|embed|concatenate)\b[^.!?\n]{0,60}\b(?:url|link|query|parameter|image|markdown|path|query string)\b|\bfollowed by (?:the|their|his|her|your) (?:users?|name|e-?mail|address|conversation|chat|contents?|answer|question|password|token)\b/,
  ),
  sign(
    'mentions-attack',
    /\b(?:prompt[- ]injections?|injection attacks?|jailbreak(?:ing|s)?|attackers?|adversar\w+|malicious|red[- ]team\w*|phishing|social engineering|vulnerabilit\w+|exploit\w*|security (?:research\w*|paper|blog|advisory)|researchers?|owasp|mitigat\w+|guardrails?|detect(?:s|ed|or|ion|ing)?|classif\w+|defen[cs]es?)\b/,
  ),
  sign(
    'quoted',
    /\b(?:such as|e\.g\.|for example|for instance|like|called|phrases?|says?|saying|said|reads|wrote|quote[sd]?|example|titled|named|the words?|string|literally)\b[^.!?\n]{0,16}["'“‘«„`]|["“«„`][^"”»`\n]{4,200}["”»`] (?:is|are|was|were|may|can|should|in|as)\b/,
  ),
  sign(
    'to-people',
    /^(?:hi|hello|dear|hey|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|sehr geehrte\w*|bonjour|cher|chère|hola|estimad[oa]s?|ciao|gentile|olá|prezad[oa]s?|beste|drogi|szanown\w*|уважаем\w*|привет|здравствуйте|sayın|merhaba|您好|你好)\b[^.!?\n]{0,40}[,!:]?$|\b(?:best|kind|warm) (?:regards|wishes)\b|\b(?:sincerely|cheers|thanks|thank you|yours|mit freundlichen grüßen|cordialement|saludos|atentamente|cordiali saluti|atenciosamente|met vriendelijke groet|с уважением|pozdrawiam|saygılarımla)\b/,
  ),
  sign(
    'about-things',
    /\b(?:previous|earlier|last|prior) (?:e-?mail|message|version|invoice|order|meeting|year|quarter|month|release|chapter|section|step|page|post|owner|job|experience|comment|value)\b|\b(?:this|the) (?:notice|reminder|e-?mail|letter|warning|error|message|step|field|section|line|value|header|column) (?:if|unless|when|because|was|is)\b/,
  ),
  sign(
    'code',
    /[;{}]\s{0,3}$|^\s{0,12}(?:import|from|def|class|const|let|var|function|return|if|for|while|#include|public|private|npm|pip|git|sudo|docker|curl|cd|\$) |=>|\(\)|==|&&|\|\|/,
  ),
];

/** The bit of a sign in a set. */
export function bitOf(name: string): number {
  const at = SIGNS.findIndex((one) => one.name === name);
  return at < 0 ? 0 : 1 << at;
}
